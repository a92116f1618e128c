// SPDX-License-Identifier: Apache-2.0
// Where bytes are read from: a file, or memory. Every access is checked against the size, and what
// is wrong is said with the name and the byte.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::io::internal {

static_assert(std::endian::native == std::endian::little,
              "spruce: files are read and written on little-endian machines");

/// Bytes that can be read at any place. `op` and `name` stand in the messages of errors.
class Source {
 public:
  Source(const char* op, std::string name) : op_(op), name_(std::move(name)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  uint64_t size() const { return size_; }
  const char* op() const { return op_; }
  const std::string& name() const { return name_; }

  /// Reads `n` bytes at `offset`; `what` says what they are. Throws IoError if they are not all
  /// there.
  void read(uint64_t offset, void* out, uint64_t n, const char* what) const;
  /// The same as an unsigned little-endian number.
  template <class T>
  T number(uint64_t offset, const char* what) const {
    T value;
    read(offset, &value, sizeof value, what);
    return value;
  }
  /// The same as a vector; memory is asked for only after the check.
  std::vector<uint8_t> bytes(uint64_t offset, uint64_t n, const char* what) const;
  /// Throws IoError if `n` bytes at `offset` go past the end.
  void require(uint64_t offset, uint64_t n, const char* what) const;
  /// Throws IoError: "load_npy: x.npy: at byte 6: ...".
  [[noreturn]] void fail(uint64_t offset, const std::string& problem) const;

 protected:
  virtual void read_at(uint64_t offset, void* out, uint64_t n) const = 0;
  uint64_t size_ = 0;

 private:
  const char* op_;
  std::string name_;
};

/// A regular file. Throws IoError if it cannot be opened.
class FileSource final : public Source {
 public:
  FileSource(const char* op, const std::string& path);
  ~FileSource() override;

  /// Of the open file, until the source ends.
  int descriptor() const { return file_; }

 protected:
  void read_at(uint64_t offset, void* out, uint64_t n) const override;

 private:
  int file_ = -1;
};

/// Bytes in memory, which it holds.
class MemorySource final : public Source {
 public:
  MemorySource(const char* op, std::string name, std::vector<uint8_t> bytes);

 protected:
  void read_at(uint64_t offset, void* out, uint64_t n) const override;

 private:
  std::vector<uint8_t> bytes_;
};

/// The bytes of an array of that type, which must fit (see check_shape). Throws IoError if they do
/// not.
uint64_t byte_count(const Source& source, uint64_t offset, const Aval& aval);
/// Reads an array from the byte_count() bytes at `offset`. Throws IoError for a bool that is
/// neither 0 nor 1.
Array read_array(const Source& source, uint64_t offset, const Aval& aval);
/// Turns the order of the bytes in each element of an array that nobody else has seen yet.
void swap_bytes(const Array& a);
/// Throws IoError, as Source::fail, for a bool that is neither 0 nor 1.
void check_bools(const Source& source, uint64_t offset, const Array& a);

/// Throws ValueError for an undefined array, TracerError for one whose value is not known; `name`
/// is in the message.
void check_saved(const char* op, const std::string& name, const Array& a);
/// An array that is to be saved, where the host can read it; under grad its value, without the
/// tangent. Throws as check_saved().
Array saved_array(const char* op, const std::string& name, const Array& a);
/// The bytes of an array that the host can read.
inline const void* bytes_of(const Array& a) { return spruce::internal::mutable_data(a); }

}  // namespace spruce::io::internal
