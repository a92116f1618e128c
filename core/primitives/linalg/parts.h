// SPDX-License-Identifier: Apache-2.0
// Parts of matrices, of which the derivatives of decompositions are made.
#pragma once

#include "spruce/core/array.h"

namespace spruce::rules {

/// What stands on and below the diagonal, and the same above it: f[..., n, n].
Array mirrored(const Array& x);
/// What stands below the diagonal, without it; zeros elsewhere.
Array strictly_lower(const Array& x);
/// What stands below the diagonal and half of what stands on it; zeros elsewhere.
Array lower_half(const Array& x);
/// Ones on the diagonal, as many rows and columns as x has, of its dtype: f[m, n].
Array identity_like(const Array& x);

}  // namespace spruce::rules
