// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/reflectors.h"
#include "spruce/core/cpu/linalg/rotations.h"
#include "spruce/core/cpu/linalg/tridiagonal.h"
#include "spruce/core/rules/decompositions.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kTrailing = 128;  // rows of one product: what stands before them is left out

// `memory` of one matrix.
struct EighMemory {
  EighMemory(int64_t size, double* memory) : n(size) {
    a = memory, z = a + n * n, d = z + n * n, e = d + n, blocks = e + n;
    w = blocks + reflector_blocks(n), more = w + kReflectors * n;
  }
  int64_t n;
  double *a, *z;   // [n, n]: the matrix, then reflectors; the eigenvectors as rows
  double *d, *e;   // the tridiagonal matrix: its diagonal and the one beside it
  double* blocks;  // of the reflectors
  double* w;       // [kReflectors, n]: of the reflectors of a panel
  double* more;    // of the reflectors, then of rotations
};

int64_t eigh_numbers(int64_t n) {
  return 2 * n * n + 2 * n + reflector_blocks(n) + kReflectors * n +
         std::max(reflector_memory(n, n), rotation_memory(n));
}

// Reduces the symmetric matrix of which m.a has the upper triangle to d and e: reflectors from both
// sides, S becoming S - v w' - w v' for each. Rows of a panel are brought up to date one by one,
// those below it by products. m.a keeps the reflectors, which h describes.
void make_tridiagonal(const VectorLoops& v, const EighMemory& m, const Reflectors& h) {
  const int64_t n = m.n;
  for (int64_t k = 0; k < n; k += kReflectors) {
    const int64_t end = std::min(k + kReflectors, n);
    const double* panel = m.a + k * n;
    for (int64_t j = k; j < end; ++j) {
      const int64_t before = j - k;
      double* row = m.a + j * n;
      subtract_rows(v, panel + j, n, m.w + j, n, before, row + j, n - j);
      subtract_rows(v, m.w + j, n, panel + j, n, before, row + j, n - j);
      m.d[j] = row[j];
      const int64_t first = j + 1, rest = n - first;
      if (rest == 0) break;
      double *x = row + first, *y = m.w + before * n + first;
      const double tau = reflect(v, x, rest);
      h.diagonal(j) = -tau;
      m.e[j] = x[0];
      x[0] = 1;
      v.symmetric_product(m.a + first * (n + 1), n, rest, x, y);
      subtract_products(v, m.w + first, panel + first, n, before, x, rest, y, rest);
      subtract_products(v, panel + first, m.w + first, n, before, x, rest, y, rest);
      v.scale(tau, y, rest);
      add_scaled(v, -tau / 2 * v.dot(x, y, rest), x, y, rest);
    }
    if (end == n) return;
    for (int64_t p = 0; p < kReflectors; ++p) v.scale(-1, m.w + p * n + end, n - end);
    for (int64_t i = end; i < n; i += kTrailing) {
      const int64_t rows = std::min(kTrailing, n - i);
      double* to = m.a + i * (n + 1);
      add_product(rows, n - i, kReflectors, panel + i, 1, n, m.w + i, n, 1, to, n);
      add_product(rows, n - i, kReflectors, m.w + i, 1, n, panel + i, n, 1, to, n);
    }
  }
}

// The matrix stands in m.z. d becomes its eigenvalues, a its eigenvectors if they are asked for;
// false where there are none.
bool decompose_symmetric(const EighMemory& m, bool vectors) {
  const VectorLoops& v = vector_loops();
  const int64_t n = m.n;
  for (int64_t i = 0; i < n; ++i) {
    if (!all_finite(m.z + i * n, i + 1)) return false;
    std::fill(m.z + i * n + i + 1, m.z + (i + 1) * n, 0.0);
  }
  const int exponent = largest_exponent(m.z, n * n);
  scale_by_power(-exponent, m.z, n * n);
  transpose_matrix(m.z, n, n, m.a);
  const Reflectors h{n - 1, n - 1, m.a + 1, n, m.blocks};
  make_tridiagonal(v, m, h);
  double* z = vectors ? m.z : nullptr;
  if (vectors) {
    complete_blocks(h, m.more);
    multiply_reflectors(h, n, z, n, m.more);
  }
  Rotations rotations(v, z, n, m.more);
  if (!diagonalise_tridiagonal(n, m.d, m.e, rotations)) return false;
  sort_rows(n, false, m.d, z, nullptr);
  scale_by_power(exponent, m.d, n);
  if (!vectors) return true;
  for (int64_t i = 0; i < n; ++i) {
    if (needs_flip(m.z + i * n, n)) v.scale(-1, m.z + i * n, n);
  }
  transpose_matrix(m.z, n, n, m.a);
  return true;
}

}  // namespace

size_t eigh_workspace(const PrepareArgs& args) {
  return workspace_size(bytes_of<double>(eigh_numbers(args.in[0]->shape.back())));
}

void eigh_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const int64_t n = batch.rows;
  if (n == 0) return;
  const bool vectors = args.params.get<EighParams>().vectors;
  const double work =
      (vectors ? 5 : 1) * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  for_each_matrix(batch.count, work, bytes_of<double>(eigh_numbers(n)),
                  [&](int64_t i, double* memory) {
                    const EighMemory m(n, memory);
                    read_doubles(args.in[0], i * batch.elements, batch.elements, m.z);
                    if (decompose_symmetric(m, vectors)) {
                      write_doubles(m.d, n, args.out[0], i * n);
                      if (vectors)
                        write_doubles(m.a, batch.elements, args.out[1], i * batch.elements);
                    } else {
                      write_nan(args.out[0], i * n, n);
                      if (vectors) write_nan(args.out[1], i * batch.elements, batch.elements);
                    }
                  });
}

}  // namespace spruce::cpu
