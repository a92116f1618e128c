// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "spruce/core/cpu/linalg/bidiagonal.h"
#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

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
    const int64_t n = s.columns, square = n * n, blocks = reflector_blocks(n);
    a = memory, at = a + largest_factor(s), left = at + s.m * s.n, right = left + s.left * s.rows;
    middle = right + (s.vectors ? square : 0);
    b.n = n;
    b.a = middle + (s.vectors ? square : 0), b.v = b.a + square;
    b.d = b.v + square, b.e = b.d + n;
    b.left_blocks = b.e + n, b.right_blocks = b.left_blocks + blocks;
    at_blocks = b.right_blocks + blocks, more = at_blocks + blocks;
  }
  static int64_t largest_factor(const SvdSizes& s) {
    return std::max({s.m * s.n, s.left * s.rows, s.columns * s.columns});
  }
  double* a;          // the matrix; then factors as they are written
  double* at;         // its transpose (itself, where it is wide); then reflectors
  double* left;       // the vectors of `rows`, in rows
  double* right;      // [columns, columns]: the vectors of `columns`, in rows
  double* middle;     // [columns, columns]: the left vectors of the triangular factor
  Bidiagonal b;       // of the triangular factor
  double* at_blocks;  // of the reflectors in `at`
  double* more;       // of the reflectors, then of rotations
};

int64_t svd_numbers(const SvdSizes& s) {
  const int64_t n = s.columns;
  return SvdMemory::largest_factor(s) + s.m * s.n + s.left * s.rows + n * n * (s.vectors ? 4 : 2) +
         2 * n + 3 * reflector_blocks(n) +
         std::max({reflector_memory(s.rows, std::max(s.left, n)), bidiagonal_memory(n),
                   2 * rotation_memory(n)});
}

// The matrix stands in m.a; false where it has no decomposition. Leaves the singular values in
// m.b.d and, where they are asked for, the vectors in the rows of m.left and of m.right.
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
  const Reflectors h{n, s.rows, m.at, s.rows, m.at_blocks};
  factor_columns(v, h, n, m.more);
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(m.b.a + i * n, i, 0.0);
    for (int64_t k = i; k < n; ++k) m.b.a[i * n + k] = m.at[k * s.rows + i];
  }
  make_bidiagonal(v, m.b, m.more);
  double *middle = s.vectors ? m.middle : nullptr, *right = s.vectors ? m.right : nullptr;
  if (s.vectors) {
    complete_blocks(m.b.left(), m.more);
    complete_blocks(m.b.right(), m.more);
    multiply_reflectors(m.b.left(), n, middle, n, m.more);
    multiply_reflectors(m.b.right(), n, right, n, m.more);
  }
  Rotations of_left(v, middle, n, m.more), of_right(v, right, n, m.more + rotation_memory(n));
  if (!diagonalise_bidiagonal(n, m.b.d, m.b.e, of_left, of_right)) return false;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::signbit(m.b.d[i])) continue;
    m.b.d[i] = -m.b.d[i];
    if (s.vectors) v.scale(-1, right + i * n, n);
  }
  sort_rows(n, true, m.b.d, middle, right);
  if (s.vectors) {
    std::fill_n(m.left, s.left * s.rows, 0.0);
    for (int64_t i = 0; i < n; ++i) std::copy_n(middle + i * n, n, m.left + i * s.rows);
    for (int64_t i = n; i < s.left; ++i) m.left[i * (s.rows + 1)] = 1;
    apply_reflectors(h, false, m.left, s.rows, s.left, m.more);
    for (int64_t i = 0; i < n; ++i) {
      double *x = m.left + i * s.rows, *y = m.right + i * n;
      if (!needs_flip(s.wide ? y : x, s.wide ? n : s.rows)) continue;
      v.scale(-1, x, s.rows);
      v.scale(-1, y, n);
    }
  }
  scale_by_power(exponent, m.b.d, n);
  return true;
}

// The factors of matrix i in the order of the outputs.
void write_factors(const KernelArgs& args, const SvdSizes& s, const SvdMemory& m, int64_t i) {
  const int64_t n = s.columns, left = s.left * s.rows;
  write_doubles(m.b.d, n, args.out[s.vectors ? 1 : 0], i * n);
  if (!s.vectors) return;
  if (s.wide) {
    transpose_matrix(m.right, n, n, m.a);
    write_doubles(m.a, n * n, args.out[0], i * n * n);
    write_doubles(m.left, left, args.out[2], i * left);
  } else {
    transpose_matrix(m.left, s.left, s.rows, m.a);
    write_doubles(m.a, left, args.out[0], i * left);
    write_doubles(m.right, n * n, args.out[2], i * n * n);
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
