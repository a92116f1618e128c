// SPDX-License-Identifier: Apache-2.0
// Sequences of different lengths in one array.
#pragma once

#include <vector>

#include "spruce/core/array.h"

namespace spruce::data {

/// Sequences side by side, the shorter ones filled up at their ends.
struct Padded {
  Array values;   ///< any[n, longest, ...]
  Array mask;     ///< bool[n, longest]: true where there is an element of a sequence
  Array lengths;  ///< i32[n]
};

/// Options of collate.
struct CollateOptions {
  double fill = 0;  ///< stands behind the end of shorter sequences
  /// The size of the axis of time; -1: that of the longest sequence. Longer sequences are cut.
  int64_t length = -1;
  /// The size of that axis is rounded up to a multiple of it, so that a compiled step sees few
  /// shapes.
  int64_t multiple_of = 1;
};

/// Arrays any[length_i, ...] that differ in nothing but their lengths as one array with a mask.
/// Throws ValueError for none of them or options out of range, ShapeError or DtypeError where other
/// sizes or dtypes differ.
Padded collate(const std::vector<Array>& sequences, const CollateOptions& options = {},
               Loc loc = Loc::current());

}  // namespace spruce::data
