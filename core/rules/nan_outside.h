// SPDX-License-Identifier: Apache-2.0
// Parameters of nan_outside, and the error of an index that is out of range.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// i32[...] or i64[...] -> f[...]: 1 where an index is within 0..size-1, NaN elsewhere.
extern const Primitive nan_outside_p;

/// What an index is checked against, and how the error tells of one that is out of range: "`op`:
/// `holds` 7, `range`".
struct NanOutsideParams {
  std::string op;                 ///< the public operation: "cross_entropy"
  std::string holds;              ///< "the target holds class"
  std::string range;              ///< "the input has classes 0..2"
  int64_t size = 0;               ///< of the axis
  Dtype dtype = Dtype::kFloat32;  ///< of the output, a floating one
};

namespace rules {

/// Throws the IndexError that names `index`, as text.
[[noreturn]] void throw_outside(const NanOutsideParams& p, const std::string& index);
/// Whether an index, i32 or i64, is within 0..n-1.
Array is_within(const Array& index, int64_t n);

}  // namespace rules
}  // namespace spruce
