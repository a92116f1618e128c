// SPDX-License-Identifier: Apache-2.0
// Limits of the floating dtypes, as in NumPy.
#pragma once

#include "spruce/core/dtype.h"
#include "spruce/core/error.h"

namespace spruce {

/// What is known of the numbers of a floating dtype.
struct FloatInfo {
  int bits;     ///< of a number
  double eps;   ///< distance from 1 to the next number
  double max;   ///< largest finite number; the lowest is -max
  double tiny;  ///< smallest positive number with all of its digits
};
/// finfo(float32).eps is 0x1p-23. Throws DtypeError unless `dtype` is floating.
FloatInfo finfo(Dtype dtype, Loc loc = Loc::current());

}  // namespace spruce
