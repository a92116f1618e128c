// SPDX-License-Identifier: Apache-2.0
// Systems of linear equations. Shapes, dtypes and errors as in core/ops/decompositions.h: matrices
// are the last two axes, axes before them are batches.
#pragma once

#include "spruce/core/ops/decompositions.h"

namespace spruce::linalg {

/// Options of lu_solve.
struct LuSolveOptions {
  bool transpose = false;  ///< solves a' x = b
};
/// The x with a x = b, from the factors that lu_factor has made of a: f[..., n, n] and f[n] or
/// f[..., n, k] -> that of b, batches broadcast.
inline constexpr struct LuSolveFunction {
  Array operator()(const LuFactor& factor, const Array& b, const LuSolveOptions& options = {},
                   Loc loc = Loc::current()) const;
} lu_solve{};

/// The x with a x = b: f[..., n, n] and f[n] or f[..., n, k] -> that of b, batches broadcast. By
/// the LU decomposition of a; infinities and NaN where a has no inverse. Differentiated through the
/// equation, not through the decomposition, which is used again: dx = a^-1 (db - da x), and of
/// cotangents g: db = a'^-1 g, da = -db x'.
inline constexpr struct SolveFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} solve{};

/// The inverse of a: f[..., n, n] of both. `solve` is faster and more accurate where the inverse is
/// only multiplied by something.
inline constexpr struct InvFunction {
  Array operator()(const Array& a, Loc loc = Loc::current()) const;
} inv{};

}  // namespace spruce::linalg
