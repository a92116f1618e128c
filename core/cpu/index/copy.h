// SPDX-License-Identifier: Apache-2.0
// Copies of elements between strided places: what broadcasts, slices, pads, transposes and the like
// come down to.
#pragma once

#include <cstdint>

#include "spruce/core/shape.h"

namespace spruce::cpu {

/// A block of elements: the address of its first one, and the step of each axis in elements (0
/// repeats, negative runs backwards).
struct Strided {
  void* data;     ///< not owned
  Shape strides;  ///< one for each axis
};

/// Copies the elements of `from` to `to`, both of shape `sizes`, of element_bytes 1, 2, 4 or 8.
/// Runs on several threads where it pays. The two do not overlap.
void copy_strided(const Shape& sizes, const Strided& to, const Strided& from,
                  int64_t element_bytes);

/// Writes one element n times.
void fill(void* to, const void* element, int64_t n, int64_t element_bytes);

/// `p` moved on by that many elements.
inline void* advance(void* p, int64_t elements, int64_t element_bytes) {
  return static_cast<char*>(p) + elements * element_bytes;
}

}  // namespace spruce::cpu
