// SPDX-License-Identifier: Apache-2.0
// Products of several matrices, and functions of one.
#pragma once

#include <vector>

#include "spruce/core/array.h"

namespace spruce::linalg {

/// a multiplied n times with itself: f[..., k, k] of both; the identity for n = 0, powers of the
/// inverse for n < 0. Takes 2 log2 |n| products.
inline constexpr struct MatrixPowerFunction {
  Array operator()(const Array& a, int64_t n, Loc loc = Loc::current()) const;
} matrix_power{};

/// The product of several matrices, in the order that takes the fewest multiplications: f[m, n],
/// f[n, k], ...; the first may be a row f[n], the last a column. Throws ValueError for fewer than
/// two, ShapeError for other ranks and where neighbours do not fit.
inline constexpr struct MultiDotFunction {
  Array operator()(const std::vector<Array>& arrays, Loc loc = Loc::current()) const;
} multi_dot{};

/// The exponential of a matrix, the sum of a^i / i!: f[..., n, n] of both. By scaling and squaring
/// with the approximation of Pade (Higham 2005); matrices whose largest column sum of absolute
/// values is above 2^16 * 5.4 give NaN.
inline constexpr struct ExpmFunction {
  Array operator()(const Array& a, Loc loc = Loc::current()) const;
} expm{};

/// A matrix with these along its diagonal, and zeros elsewhere: f[m, n], f[k, l] -> f[m + k, n +
/// l]. A vector is a row. Throws ValueError for none, ShapeError for more axes.
inline constexpr struct BlockDiagFunction {
  Array operator()(const std::vector<Array>& arrays, Loc loc = Loc::current()) const;
} block_diag{};

}  // namespace spruce::linalg
