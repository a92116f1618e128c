// SPDX-License-Identifier: Apache-2.0
// The solution of linear equations by factors that are there already.
#pragma once

#include "spruce/core/array.h"

namespace spruce::internal {

/// The x with a x = b, from two outputs of lu_p for a: f[..., n, n] and f[..., n, k] with the same
/// batches. Differentiated through the equation, so that what the outputs have of derivatives does
/// not count.
Array solve_by_lu(const Array& a, const Array& lu, const Array& permutation, const Array& b);

}  // namespace spruce::internal
