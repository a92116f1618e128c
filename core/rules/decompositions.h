// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitives that decompose matrices, and what their rules and kernels share. All
// take matrices of floating numbers as the last two axes of their operands; the axes before them
// are batches, which are the same in all operands.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// Factors of matrices, and the solution of triangular systems.
extern const Primitive cholesky_p, triangular_solve_p, lu_p, qr_p, eigh_p, svd_p;

/// triangular_solve(a [..., n, n], b [..., n, k]): x with op(a) x = b, where a is triangular: what
/// stands on the other side of its diagonal is not read.
struct TriangularSolveParams {
  bool lower = false;          ///< a is lower triangular, else upper
  bool transpose = false;      ///< op(a) is the transpose of a, else a
  bool unit_diagonal = false;  ///< the diagonal counts as ones and is not read
};

/// qr(a [..., m, n]): q and r with a = q r; q has orthonormal columns, r is upper triangular.
struct QrParams {
  bool full = false;  ///< q is [m, m] and r [m, n]; else [m, k] and [k, n], k = min(m, n)
};

/// Of eigh.
struct EighParams {
  bool vectors = true;  ///< false: the eigenvalues are the only output
};

/// svd(a [..., m, n]): u, s and the transpose of v with a = u diag(s) v'; s falls.
struct SvdParams {
  bool full = false;     ///< u is [m, m] and v' [n, n]; else [m, k] and [k, n], k = min(m, n)
  bool vectors = false;  ///< false: s is the only output
};

namespace rules {

/// The sizes of the matrices of an operand, and how many there are.
struct MatrixBatch {
  /// Of an operand of that shape, of rank 2 at least.
  explicit MatrixBatch(const Shape& shape)
      : rows(shape[shape.rank() - 2]), columns(shape.back()), elements(rows * columns) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
  }
  int64_t rows, columns;  ///< of one matrix
  int64_t elements;       ///< the same
  int64_t count = 1;      ///< how many matrices
};

/// Of an eigenvector or singular vector and its opposite, kernels give the one whose first
/// component of at least this share of the largest magnitude is positive, so that all back ends
/// give the same. Not a simple fraction, so that hardly any vector has a component of just that
/// share.
inline constexpr double kSignShare = 0.4372;

/// Throws ShapeError that names `op` unless x has two axes.
void check_matrix(const char* op, const Aval& x);
/// The same. Throws ShapeError too unless the last two axes are the same; `advice` goes on behind
/// "got f32[2,3]".
void check_square(const char* op, const Aval& x, const char* advice = "");
/// The type of input i. Throws DtypeError unless it is floating, ShapeError unless it has two axes.
const Aval& matrix_of(const ShapeArgs& a, size_t i);
/// The same. Throws ShapeError too unless its last two axes are the same.
const Aval& square_of(const ShapeArgs& a, size_t i);
/// The type of input 0 with matrices of that size. Throws ShapeError where they are too large.
Aval matrices(const ShapeArgs& a, int64_t rows, int64_t columns);
/// vmap for all primitives of this kind: the mapped axis is one more batch axis of all operands.
void batch_matrices(const BatchArgs& a);

/// f[..., m, n] -> f[..., n, m].
Array transposed(const Array& x);
/// The x with op(a) x = b.
Array triangular_solve(const Array& a, const Array& b, const TriangularSolveParams& params);
/// The x with x op(a) = b.
Array triangular_solve_right(const Array& a, const Array& b, const TriangularSolveParams& params);

}  // namespace rules
}  // namespace spruce
