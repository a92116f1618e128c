// SPDX-License-Identifier: Apache-2.0
// Arrays in files that need not fit into memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

namespace internal {
class Mapping;
}

/// An array in a file, which the system reads where rows are asked for. Copies share the mapping.
/// The file may be read by other programs meanwhile and has to keep its length: a file that is cut
/// short while it is mapped ends the process (SIGBUS), as everywhere on POSIX systems.
class MappedArray {
 public:
  /// What is moved is copied, so that both can be read.
  MappedArray(const MappedArray&) = default;
  MappedArray& operator=(const MappedArray&) = default;  ///< The same.
  /// The array of a .npy file in C order and little-endian. Throws IoError for other files, for
  /// what is damaged or cut short.
  static MappedArray npy(const std::string& path, Loc loc = Loc::current());
  /// Bare elements, little-endian, from byte `offset` on: f32[1000000,64], for example. Throws
  /// IoError if the file does not hold as many, ShapeError for a negative size.
  static MappedArray raw(const std::string& path, Dtype dtype, const Shape& shape,
                         int64_t offset = 0, Loc loc = Loc::current());

  /// Sizes of the axes, at least one.
  const Shape& shape() const { return aval_.shape; }
  /// Of the elements.
  Dtype dtype() const { return aval_.dtype; }
  /// The size of the first axis.
  int64_t size() const { return aval_.shape[0]; }

  /// Those entries along the first axis as an array in memory: any[k, ...]. Throws IndexError; and
  /// IoError for a bool that is neither 0 nor 1.
  Array take(std::span<const int64_t> indices, Loc loc = Loc::current()) const;
  /// The same for numbers in a vector.
  Array take(const std::vector<int64_t>& indices, Loc loc = Loc::current()) const {
    return take(std::span<const int64_t>(indices), loc);
  }
  /// The `count` entries from `start` on. Throws as take().
  Array slice(int64_t start, int64_t count, Loc loc = Loc::current()) const;

 private:
  MappedArray(std::shared_ptr<const internal::Mapping> file, Aval aval, uint64_t offset);
  void check(const char* op, const Array& out) const;

  std::shared_ptr<const internal::Mapping> file_;
  Aval aval_;
  uint64_t offset_;
};

}  // namespace spruce::data
