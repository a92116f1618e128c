// SPDX-License-Identifier: Apache-2.0
// Parts of matrices, of which the derivatives of decompositions are made.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::rules {

/// What stands on and below the diagonal, and the same above it: f[..., n, n].
Array mirrored(const Array& x);
/// What stands below the diagonal, without it; zeros elsewhere.
Array strictly_lower(const Array& x);
/// What stands below the diagonal and half of what stands on it; zeros elsewhere.
Array lower_half(const Array& x);
/// One matrix or batch of matrices with these very elements, for the property tests.
Sample matrix_sample(const Shape& shape, std::vector<double> values, Params params = {});

}  // namespace spruce::rules
