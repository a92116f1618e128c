// SPDX-License-Identifier: Apache-2.0
// Writing a file such that its place holds the old one or the new one, whole, at every moment.
#pragma once

#include <cstdint>
#include <string>

namespace spruce::io::internal {

/// A new file that stands beside its place until commit() puts it there. A process that ends before
/// leaves the old file as it was; at worst a file `.spruce-*.tmp` stays in the folder. Every
/// function throws IoError, naming `op` and the path.
class AtomicFile {
 public:
  AtomicFile(const char* op, const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, uint64_t n);
  void write(const std::string& text) { write(text.data(), text.size()); }
  /// How many bytes have been written.
  uint64_t position() const { return position_; }
  /// Brings the bytes to the disk and the file to its place.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  const char* op_;
  std::string path_;       // as the user wrote it
  std::string target_;     // with links followed
  std::string temporary_;  // empty once committed
  int file_ = -1;
  uint64_t position_ = 0;
};

}  // namespace spruce::io::internal
