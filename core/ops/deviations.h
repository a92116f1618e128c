// SPDX-License-Identifier: Apache-2.0
// Means and sums of squared deviations that keep their digits where the mean is large beside the
// deviations.
#pragma once

#include "spruce/core/array.h"

namespace spruce::internal {

/// The mean of x over some axes in two parts, `mean + rest`, and the deviations from it. Sums have
/// lost those axes. The dtype is that of x where nothing else is said.
struct Deviations {
  Array mean;        ///< rounded, and without a derivative
  Array from_mean;   ///< x - mean, of the shape of x
  Array rest;        ///< the mean of from_mean: what rounding took from `mean`
  Array of_squares;  ///< the sum of (from_mean - rest)^2, not negative; f32 for f16 and bf16
};

/// The corrected two-pass algorithm (Chan, Golub and LeVeque 1983): x is read as often as for a
/// mean and a sum of squares about it. Derivatives are those of the exact functions, to any order,
/// as the deviations do not depend on what `mean` was rounded to.
Deviations deviations(const Array& x, const Axes& axes);

}  // namespace spruce::internal
