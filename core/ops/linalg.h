// SPDX-License-Identifier: Apache-2.0
// Products of matrices and other contractions. Operands of two dtypes are promoted by
// docs/promotion.md; f16 and bf16 accumulate in f32, integers in their own dtype, where they wrap
// as in C; bool is "or of and". All are bilinear: da is the contraction of g with b, db that of a
// with g.
#pragma once

#include <span>
#include <string_view>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/rules/dot_params.h"

namespace spruce {

/// The general contraction of two arrays, as jax.lax.dot_general. The axes of the result are the
/// batch axes in the order given, then the other axes of `a`, then those of `b`. Operands are read
/// where they are, whatever the order of their axes. Throws ShapeError for axes that are out of
/// range, given twice, or of different sizes.
inline constexpr struct DotGeneralFunction {
  Array operator()(const Array& a, const Array& b, const DotParams& axes,
                   Loc loc = Loc::current()) const;
} dot_general{};

/// The matrix product by NumPy's rules: f[..., m, k] and f[..., k, n] -> f[..., m, n], leading axes
/// broadcast. An operand of rank 1 is a row on the left and a column on the right, and the result
/// lacks that axis. Throws ShapeError if the k differ, the leading axes do not broadcast, or an
/// operand has rank 0 (multiply by it instead).
inline constexpr struct MatmulFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} matmul{};

/// numpy.dot: the product with a scalar where one operand has rank 0, else the sum over the last
/// axis of `a` and the last but one of `b` (its only one, for rank 1): f[..., k] and f[*, k, n] ->
/// f[..., *, n]. Throws ShapeError.
inline constexpr struct DotFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} dot{};

/// The sum of the products of all elements, read in row-major order: f[]. Throws ShapeError if
/// their numbers differ.
inline constexpr struct VdotFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} vdot{};

/// Options of vecdot.
struct VecdotOptions {
  Axis axis = -1;  ///< counted in the broadcast operands
};
/// The sum of the products along one axis, the other axes broadcast: f[..., k] and f[..., k] ->
/// f[...].
inline constexpr struct VecdotFunction {
  Array operator()(const Array& a, const Array& b, const VecdotOptions& options = {},
                   Loc loc = Loc::current()) const;
} vecdot{};

/// Sums over the last axis of both: f[..., k] and f[*, k] -> f[..., *]. A scalar multiplies. Throws
/// ShapeError.
inline constexpr struct InnerFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} inner{};

/// All products of an element of `a` with one of `b`, both flattened: f[m], f[n] -> f[m, n].
inline constexpr struct OuterFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} outer{};

/// The sum over a_axes of `a` with b_axes of `b`, pair by pair; then the other axes of `a`, then
/// those of `b`. Throws ShapeError.
inline constexpr struct TensordotFunction {
  Array operator()(const Array& a, const Array& b, const AxisArg& a_axes, const AxisArg& b_axes,
                   Loc loc = Loc::current()) const;
  /// The sum over the last `axes` axes of `a` with the first of `b`.
  Array operator()(const Array& a, const Array& b, int axes = 2, Loc loc = Loc::current()) const;
} tensordot{};

/// The Kronecker product: f[m, n], f[p, q] -> f[m p, n q], for any ranks (the lower one is padded
/// with ones in front).
inline constexpr struct KronFunction {
  Array operator()(const Array& a, const Array& b, Loc loc = Loc::current()) const;
} kron{};

/// Options of cross.
struct CrossOptions {
  Axis axis = -1;  ///< the axis of size 3, in both operands and in the result
};
/// The cross product of vectors of three components, the other axes broadcast. Throws ShapeError
/// for another size.
inline constexpr struct CrossFunction {
  Array operator()(const Array& a, const Array& b, const CrossOptions& options = {},
                   Loc loc = Loc::current()) const;
} cross{};

/// Options of diagonal and trace.
struct DiagonalOptions {
  int64_t offset = 0;  ///< above the main diagonal if positive, below if negative
  Axis axis1 = 0;      ///< rows
  Axis axis2 = 1;      ///< columns
};
/// The diagonal over two axes, which gives the last axis of the result: f[n, m, ...] -> f[...,
/// min(n, m)]. A copy. Throws ShapeError for fewer than two axes or the same axis twice. Grad: g on
/// the diagonal, zeros elsewhere.
inline constexpr struct DiagonalFunction {
  Array operator()(const Array& x, const DiagonalOptions& options = {},
                   Loc loc = Loc::current()) const;
} diagonal{};
/// The sum of diagonal(x, options).
inline constexpr struct TraceFunction {
  Array operator()(const Array& x, const DiagonalOptions& options = {},
                   Loc loc = Loc::current()) const;
} trace{};

/// Options of diag.
struct DiagOptions {
  int64_t offset = 0;  ///< which diagonal, as in DiagonalOptions
};
/// f[n] -> the matrix f[n + |offset|, n + |offset|] with it on the diagonal; f[n, m] -> its
/// diagonal. Throws ShapeError for other ranks.
inline constexpr struct DiagFunction {
  Array operator()(const Array& x, const DiagOptions& options = {}, Loc loc = Loc::current()) const;
} diag{};

}  // namespace spruce
