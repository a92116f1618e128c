// SPDX-License-Identifier: Apache-2.0
// Decompositions of matrices, with the names and results of jax.numpy.linalg. Matrices are the last
// two axes; axes before them are batches. A decomposition is computed in f64 and rounded at its
// end; f16 and bf16 are taken too; integers and bool are converted to f32. All have derivatives of
// every order, and vmap and jit go through them. Where there is no decomposition the result is NaN,
// so that compiled programs go on; `check` says so where it matters. Operands without two axes, or
// of the wrong sizes, are a ShapeError that names both.
#pragma once

#include <string_view>

#include "spruce/core/array.h"

namespace spruce::linalg {

/// Options of cholesky.
struct CholeskyOptions {
  bool upper = false;  ///< the upper factor u, with u' u = a
  /// Takes (a + a') / 2; else what is above the diagonal is not read.
  bool symmetrize_input = true;
};
/// The lower triangular l with l l' = a, of a symmetric positive definite a: f[..., n, n] of both.
/// NaN for a matrix that is not positive definite. Grad: l'^-1 h(l' g) l^-1 made symmetric, with h:
/// the lower triangle with half of the diagonal.
inline constexpr struct CholeskyFunction {
  Array operator()(const Array& a, const CholeskyOptions& options = {},
                   Loc loc = Loc::current()) const;
} cholesky{};

/// Options of solve_triangular.
struct SolveTriangularOptions {
  bool lower = false;          ///< a is lower triangular, else upper; the rest is not read
  bool transpose = false;      ///< solves a' x = b
  bool unit_diagonal = false;  ///< the diagonal of a counts as ones and is not read
};
/// The x with a x = b for a triangular a: f[..., n, n] and f[n] or f[..., n, k] -> that of b,
/// batches broadcast. A zero on the diagonal gives infinities and NaN. Linear in b.
inline constexpr struct SolveTriangularFunction {
  Array operator()(const Array& a, const Array& b, const SolveTriangularOptions& options = {},
                   Loc loc = Loc::current()) const;
} solve_triangular{};

/// Options of cho_solve.
struct ChoSolveOptions {
  bool lower = true;  ///< the factor is lower triangular, as cholesky gives it
};
/// The x with a x = b, from a factor that cholesky has made of a: two triangular systems. Shapes as
/// in solve_triangular.
inline constexpr struct ChoSolveFunction {
  Array operator()(const Array& factor, const Array& b, const ChoSolveOptions& options = {},
                   Loc loc = Loc::current()) const;
} cho_solve{};

/// What lu_factor gives.
struct LuFactor {
  Array lu;  ///< f[..., m, n]: u on and above the diagonal, l without its ones below it
  /// i32[..., min(m, n)]: the row with which each was exchanged, one after the other.
  Array pivots;
  Array permutation;  ///< i32[..., m]: which row of a each row of l u is
};
/// The factors of a = p l u in the form that lu_solve takes: f[..., m, n].
inline constexpr struct LuFactorFunction {
  LuFactor operator()(const Array& a, Loc loc = Loc::current()) const;
} lu_factor{};

/// What lu gives.
struct Lu {
  Array p;  ///< f[..., m, m]: a permutation
  Array l;  ///< f[..., m, k], k = min(m, n): lower triangular, ones on the diagonal
  Array u;  ///< f[..., k, n]: upper triangular
};
/// a = p l u, with the largest element of what is left of a column as its pivot: f[..., m, n].
inline constexpr struct LuFunction {
  Lu operator()(const Array& a, Loc loc = Loc::current()) const;
} lu{};

/// Options of qr.
struct QrOptions {
  std::string_view mode = "reduced";  ///< or "complete": q is square; ValueError for others
};
/// What qr gives.
struct Qr {
  Array q;  ///< f[..., m, k], k = min(m, n); "complete": f[..., m, m]
  Array r;  ///< f[..., k, n]; "complete": f[..., m, n]
};
/// a = q r with orthonormal columns of q and an upper triangular r, whose diagonal may be negative,
/// as in LAPACK: f[..., m, n]. "complete" with m > n has no derivative: DerivativeError.
inline constexpr struct QrFunction {
  Qr operator()(const Array& a, const QrOptions& options = {}, Loc loc = Loc::current()) const;
} qr{};

/// Options of eigh and eigvalsh.
struct EighOptions {
  bool lower = true;             ///< reads the lower triangle alone, else the upper one alone ...
  bool symmetrize_input = true;  ///< ... unless this takes (a + a') / 2, as JAX does
};
/// What eigh gives.
struct Eigh {
  Array eigenvalues;  ///< f[..., n], rising
  /// f[..., n, n]: orthonormal columns. Of each and its opposite, the one whose first component
  /// that is not small beside its largest is positive.
  Array eigenvectors;
};
/// The eigenvalues and eigenvectors of a symmetric matrix: f[..., n, n]. The derivative of
/// eigenvectors is not finite where two eigenvalues are the same.
inline constexpr struct EighFunction {
  Eigh operator()(const Array& a, const EighOptions& options = {}, Loc loc = Loc::current()) const;
} eigh{};
/// The eigenvalues alone, whose first derivative is finite where eigenvalues are the same.
inline constexpr struct EigvalshFunction {
  Array operator()(const Array& a, const EighOptions& options = {}, Loc loc = Loc::current()) const;
} eigvalsh{};

/// Options of svd.
struct SvdOptions {
  bool full_matrices = true;  ///< u and vh are square
};
/// What svd gives: a = u diag(s) vh.
struct Svd {
  Array u;   ///< f[..., m, m], or f[..., m, k] with k = min(m, n)
  Array s;   ///< f[..., k]: the singular values, falling
  Array vh;  ///< f[..., n, n], or f[..., k, n]
};
/// The singular value decomposition: f[..., m, n]. Full matrices of an a that is not square have no
/// derivative: DerivativeError. The derivatives of u and vh are not finite where two singular
/// values are the same.
inline constexpr struct SvdFunction {
  Svd operator()(const Array& a, const SvdOptions& options = {}, Loc loc = Loc::current()) const;
} svd{};
/// The singular values alone, falling: f[..., m, n] -> f[..., min(m, n)]. Their derivative is
/// finite where some are the same.
inline constexpr struct SvdvalsFunction {
  Array operator()(const Array& a, Loc loc = Loc::current()) const;
} svdvals{};

/// Options of matrix_rank, pinv and lstsq.
struct RankOptions {
  /// Singular values up to rtol times the largest count as zeros; below 0: max(m, n) times the
  /// distance from 1 to the next number of the dtype (of f32 for f16 and bf16), as in NumPy; ten
  /// times that in pinv, as in JAX.
  double rtol = -1;
};
/// How many singular values count: f[..., m, n] -> i32[...]. No gradient.
inline constexpr struct MatrixRankFunction {
  Array operator()(const Array& a, const RankOptions& options = {}, Loc loc = Loc::current()) const;
} matrix_rank{};
/// The largest singular value over the smallest: f[..., m, n] -> f[...]; infinite where that is 0,
/// NaN where both are. Throws ShapeError for matrices without elements.
inline constexpr struct CondFunction {
  Array operator()(const Array& a, Loc loc = Loc::current()) const;
} cond{};

/// Options of linalg::diagonal and linalg::trace.
struct LinalgDiagonalOptions {
  int64_t offset = 0;  ///< above the main diagonal if positive, below if negative
};
/// The diagonals of matrices: f[..., m, n] -> f[..., min(m, n)]. spruce::diagonal takes the first
/// two axes where none are named.
inline constexpr struct LinalgDiagonalFunction {
  Array operator()(const Array& a, const LinalgDiagonalOptions& options = {},
                   Loc loc = Loc::current()) const;
} diagonal{};
/// The sums of their elements: f[..., m, n] -> f[...].
inline constexpr struct LinalgTraceFunction {
  Array operator()(const Array& a, const LinalgDiagonalOptions& options = {},
                   Loc loc = Loc::current()) const;
} trace{};

}  // namespace spruce::linalg
