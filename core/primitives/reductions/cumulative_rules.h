// SPDX-License-Identifier: Apache-2.0
// Derivatives of cumulative operations. Each is a scan over pairs (value, tangent): element i is
// combined with the element 1, 2, 4, ... places before it, after which it has seen all of them,
// each once (Hillis and Steele 1986). Only products, sums and selections occur, so that derivatives
// of any order are right, and nothing is divided by an element.
#pragma once

#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {

/// x with each element moved `distance` places in the direction of the scan; `fill` stands where
/// none came from.
Array moved(const Array& x, const CumulativeParams& p, int64_t distance, const Array& fill);

/// Calls step(distance) for 1, 2, 4, ... below the length of the axis.
template <class Step>
void scan_steps(const Array& x, const CumulativeParams& p, const Step& step) {
  for (int64_t d = 1; d < x.shape()[static_cast<int>(p.axis)]; d *= 2) step(d);
}

/// jvp of cummax and cummin: the mean of the tangents of those elements so far that equal the
/// result.
void jvp_cumulative_extremum(const JvpArgs& a);

}  // namespace spruce::rules
