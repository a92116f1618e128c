// SPDX-License-Identifier: Apache-2.0
// Linear equations without a solution or with many, by the singular value decomposition.
#pragma once

#include "spruce/core/ops/decompositions.h"

namespace spruce::linalg {

/// The pseudo-inverse by Moore and Penrose: f[..., m, n] -> f[..., n, m]. The derivative is that of
/// matrices of the same rank (Golub and Pereyra 1973), finite whatever the singular values.
inline constexpr struct PinvFunction {
  Array operator()(const Array& a, const RankOptions& options = {}, Loc loc = Loc::current()) const;
} pinv{};

/// What lstsq gives.
struct LeastSquares {
  Array x;          ///< f[n] or f[..., n, k]: of the smallest a x - b, the shortest
  Array residuals;  ///< f[] or f[..., k]: the sum of the squares of b - a x
  Array rank;       ///< i32[...]: how many singular values of a count
  Array s;          ///< f[..., min(m, n)]: the singular values of a, falling
};
/// The x for which the sum of the squares of b - a x is smallest: f[..., m, n] and f[m] or f[...,
/// m, k]. `residuals` are there for matrices of every rank, as the rank is not known while a
/// function is traced. x and the residuals have the derivatives of pinv. Throws ShapeError where
/// the rows differ.
inline constexpr struct LstsqFunction {
  LeastSquares operator()(const Array& a, const Array& b, const RankOptions& options = {},
                          Loc loc = Loc::current()) const;
} lstsq{};

}  // namespace spruce::linalg
