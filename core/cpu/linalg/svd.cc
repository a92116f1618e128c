// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

constexpr int kMostSweeps = 60;
// Of a matrix whose largest element is about 1. Shorter rows have no direction of their own: the
// products that make them orthogonal would underflow.
constexpr double kLeastNorm = 0x1p-450;

// A wide matrix is decomposed as its transpose, so that it has no fewer rows than columns.
struct SvdSizes {
  SvdSizes(const Shape& a, const Params& params) {
    const MatrixBatch batch(a);
    const auto& p = params.get<SvdParams>();
    m = batch.rows, n = batch.columns;
    wide = m < n, vectors = p.vectors;
    rows = std::max(m, n), columns = std::min(m, n);
    left = !vectors ? 0 : p.full ? rows : columns;
  }
  double work() const {
    return 20 * static_cast<double>(rows) * static_cast<double>(columns) *
           static_cast<double>(columns);
  }
  int64_t m, n;
  bool wide, vectors;
  int64_t rows, columns;  // of a or its transpose
  int64_t left;           // vectors of `rows` numbers
};

// `memory` of one matrix.
struct SvdMemory {
  SvdMemory(const SvdSizes& s, double* memory) {
    const int64_t square = s.columns * s.columns;
    a = memory, at = a + std::max({s.m * s.n, s.left * s.rows, square});
    r = at + s.m * s.n, j = r + square, norms = j + (s.vectors ? square : 0);
    left = norms + s.columns, blocks = left + s.left * s.rows;
    more = blocks + reflector_blocks(s.columns);
  }
  double* a;       // the matrix; then factors as they are written
  double* at;      // its transpose (itself, where it is wide); then reflectors
  double* r;       // [columns, columns]: the triangular factor; then the vectors of `columns`
  double* j;       // [columns, columns]: the product of the rotations
  double* norms;   // the singular values
  double* left;    // the vectors of `rows`, in rows
  double* blocks;  // of the reflectors
  double* more;    // of the reflectors
};

int64_t svd_numbers(const SvdSizes& s) {
  const int64_t square = s.columns * s.columns;
  return std::max({s.m * s.n, s.left * s.rows, square}) + s.m * s.n + square * (s.vectors ? 2 : 1) +
         s.columns + s.left * s.rows + reflector_blocks(s.columns) +
         reflector_memory(s.rows, std::max(s.left, s.columns));
}

// One-sided Jacobi: rotates the rows of r [n, n] until they are orthogonal, longer ones first, and
// those of j with them where it is there. `squares` has room for n.
void make_orthogonal(const VectorLoops& v, int64_t n, double* r, double* j, double* squares) {
  constexpr double kLeastSquare = kLeastNorm * kLeastNorm;
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  bool rotated = true;
  for (int sweep = 0; sweep < kMostSweeps && rotated; ++sweep) {
    rotated = false;
    for (int64_t i = 0; i < n; ++i) squares[i] = v.dot(r + i * n, r + i * n, n);
    for (int64_t i = 0; i < n; ++i) {
      double* x = r + i * n;
      const int64_t longest = std::max_element(squares + i, squares + n) - squares;
      if (longest != i) {
        std::swap(squares[i], squares[longest]);
        std::swap_ranges(x, x + n, r + longest * n);
        if (j != nullptr) std::swap_ranges(j + i * n, j + (i + 1) * n, j + longest * n);
      }
      if (!(squares[i] >= kLeastSquare)) break;
      for (int64_t k = i + 1; k < n; ++k) {
        if (!(squares[k] >= kLeastSquare)) continue;
        double* y = r + k * n;
        const double product = v.dot(x, y, n);
        if (std::abs(product) <= kEpsilon * std::sqrt(squares[i]) * std::sqrt(squares[k])) continue;
        const double cotangent = (squares[k] - squares[i]) / (2 * product);  // of twice the angle
        const double t =
            std::copysign(1.0, cotangent) / (std::abs(cotangent) + length_of(1, cotangent));
        // 1 / root itself is more often rounded up than down where t is small, so that rows grow.
        const double root = std::sqrt(1 + t * t);
        const double c = 1 - t * t / (root * (1 + root)), s = t / root;
        v.rotate(c, s, x, y, n);
        if (j != nullptr) v.rotate(c, s, j + i * n, j + k * n, n);
        squares[i] -= t * product;
        const double before = squares[k];
        squares[k] += t * product;
        // What is left of a difference of nearly equal numbers is not accurate.
        if (squares[k] < before / 16) squares[k] = v.dot(y, y, n);
        rotated = true;
      }
    }
  }
}

// The lengths of the rows of r, falling, the rows of both matrices in their order.
void sort_by_norm(const VectorLoops& v, int64_t n, double* r, double* j, double* norms) {
  for (int64_t i = 0; i < n; ++i) norms[i] = norm(v, r + i * n, n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t longest = std::max_element(norms + i, norms + n) - norms;
    if (longest == i) continue;
    std::swap(norms[i], norms[longest]);
    std::swap_ranges(r + i * n, r + (i + 1) * n, r + longest * n);
    if (j != nullptr) std::swap_ranges(j + i * n, j + (i + 1) * n, j + longest * n);
  }
}

// The rows of m.r, orthogonal, become orthonormal: those without a direction become what completes
// the others to a basis, which is found by reflectors in m.at.
void make_orthonormal(const VectorLoops& v, int64_t n, const SvdMemory& m) {
  int64_t known = 0;
  for (; known < n && m.norms[known] >= kLeastNorm; ++known)
    v.scale(1 / m.norms[known], m.r + known * n, n);
  if (known == n) return;
  const Reflectors h{known, n, m.at, n, m.blocks};
  std::copy_n(m.r, known * n, m.at);
  factor_columns(v, h, known, m.more);
  std::fill(m.r + known * n, m.r + n * n, 0.0);
  for (int64_t i = known; i < n; ++i) m.r[i * (n + 1)] = 1;
  apply_reflectors(h, false, m.r + known * n, n, n - known, m.more);
}

// The matrix stands in m.a; false where it has no decomposition. Leaves the singular values in
// m.norms and, where they are asked for, the vectors in the rows of m.left and of m.r.
bool decompose_svd(const SvdSizes& s, const SvdMemory& m) {
  const VectorLoops& v = vector_loops();
  const int64_t n = s.columns;
  if (!all_finite(m.a, s.m * s.n)) return false;
  const int exponent = largest_exponent(m.a, s.m * s.n);
  scale_by_power(-exponent, m.a, s.m * s.n);
  if (s.wide)
    std::copy_n(m.a, s.m * s.n, m.at);
  else
    transpose_matrix(m.a, s.m, s.n, m.at);
  const Reflectors h{n, s.rows, m.at, s.rows, m.blocks};
  factor_columns(v, h, n, m.more);
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(m.r + i * n, i, 0.0);
    for (int64_t k = i; k < n; ++k) m.r[i * n + k] = m.at[k * s.rows + i];
  }
  double* j = s.vectors ? m.j : nullptr;
  if (s.vectors) {
    std::fill_n(j, n * n, 0.0);
    for (int64_t i = 0; i < n; ++i) j[i * (n + 1)] = 1;
  }
  make_orthogonal(v, n, m.r, j, m.norms);
  sort_by_norm(v, n, m.r, j, m.norms);
  if (s.vectors) {
    std::fill_n(m.left, s.left * s.rows, 0.0);
    for (int64_t i = 0; i < n; ++i) std::copy_n(j + i * n, n, m.left + i * s.rows);
    for (int64_t i = n; i < s.left; ++i) m.left[i * (s.rows + 1)] = 1;
    apply_reflectors(h, false, m.left, s.rows, s.left, m.more);
    make_orthonormal(v, n, m);
    for (int64_t i = 0; i < n; ++i) {
      double *left = m.left + i * s.rows, *right = m.r + i * n;
      if (!needs_flip(s.wide ? right : left, s.wide ? n : s.rows)) continue;
      v.scale(-1, left, s.rows);
      v.scale(-1, right, n);
    }
  }
  scale_by_power(exponent, m.norms, n);
  return true;
}

// The factors of matrix i in the order of the outputs.
void write_factors(const KernelArgs& args, const SvdSizes& s, const SvdMemory& m, int64_t i) {
  const int64_t n = s.columns, left = s.left * s.rows;
  write_doubles(m.norms, n, args.out[s.vectors ? 1 : 0], i * n);
  if (!s.vectors) return;
  if (s.wide) {
    transpose_matrix(m.r, n, n, m.a);
    write_doubles(m.a, n * n, args.out[0], i * n * n);
    write_doubles(m.left, left, args.out[2], i * left);
  } else {
    transpose_matrix(m.left, s.left, s.rows, m.a);
    write_doubles(m.a, left, args.out[0], i * left);
    write_doubles(m.r, n * n, args.out[2], i * n * n);
  }
}

}  // namespace

size_t svd_workspace(const PrepareArgs& args) {
  return workspace_size(bytes_of<double>(svd_numbers(SvdSizes(args.in[0]->shape, args.params))));
}

void svd_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const SvdSizes s(args.in[0].shape(), args.params);
  for_each_matrix(batch.count, s.work(), bytes_of<double>(svd_numbers(s)),
                  [&](int64_t i, double* memory) {
                    const SvdMemory m(s, memory);
                    read_doubles(args.in[0], i * batch.elements, batch.elements, m.a);
                    if (decompose_svd(s, m)) {
                      write_factors(args, s, m, i);
                      return;
                    }
                    for (const View& out : args.out) {
                      const int64_t each = out.numel() / batch.count;
                      write_nan(out, i * each, each);
                    }
                  });
}

}  // namespace spruce::cpu
