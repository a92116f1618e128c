// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/vectors.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kRows = 256;  // of one product: what stands below the diagonal is left out so far

size_t bytes_of_one(int64_t n) {
  return bytes_of<double>(n * n + (n > kPanel ? (n - kPanel) * kPanel : 0));
}

// f(r, c) for all c < r < n, piece by piece, so that rows and columns stay in the cache.
template <class F>
void each_below_diagonal(int64_t n, const F& f) {
  constexpr int64_t kPiece = 16;
  for (int64_t first_r = 0; first_r < n; first_r += kPiece) {
    for (int64_t first_c = 0; first_c <= first_r; first_c += kPiece) {
      for (int64_t r = first_r; r < std::min(first_r + kPiece, n); ++r) {
        for (int64_t c = first_c; c < std::min(first_c + kPiece, r); ++c) f(r, c);
      }
    }
  }
}

// The upper factor of a [n, n], whose upper triangle is read, in its place: rows of a panel one
// after the other, then all rows below by products. False where there is none. `panel` has room
// for (n - kPanel) kPanel.
bool factor_cholesky(double* a, int64_t n, double* panel) {
  const VectorLoops& v = vector_loops();
  for (int64_t k = 0; k < n; k += kPanel) {
    const int64_t end = std::min(k + kPanel, n), width = end - k, rest = n - end;
    for (int64_t i = k; i < end; ++i) {
      double* row = a + i * n + i;
      subtract_rows(v, a + k * n + i, n, a + k * n + i, n, i - k, row, n - i);
      if (!(row[0] > 0)) return false;
      const double root = std::sqrt(row[0]);
      v.scale(1 / root, row, n - i);
      row[0] = root;
    }
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t j = 0; j < rest; ++j) panel[i * rest + j] = -a[(k + i) * n + end + j];
    }
    for (int64_t i = end; i < n; i += kRows) {
      add_product(std::min(kRows, n - i), n - i, width, panel + i - end, 1, rest, a + k * n + i, n,
                  1, a + i * n + i, n);
    }
  }
  return true;
}

}  // namespace

size_t cholesky_workspace(const PrepareArgs& args) {
  return workspace_size(bytes_of_one(args.in[0]->shape.back()));
}

void cholesky_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const int64_t n = batch.rows;
  const double work = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 6;
  for_each_matrix(batch.count, work, bytes_of_one(n), [&](int64_t i, double* memory) {
    // What is on and below the diagonal is read, as the upper triangle of the transpose.
    read_doubles(args.in[0], i * batch.elements, batch.elements, memory);
    double* a = memory;
    each_below_diagonal(n, [&](int64_t r, int64_t c) { a[c * n + r] = a[r * n + c]; });
    if (factor_cholesky(a, n, a + batch.elements)) {
      each_below_diagonal(
          n, [&](int64_t r, int64_t c) { a[r * n + c] = std::exchange(a[c * n + r], 0.0); });
      write_doubles(a, batch.elements, args.out[0], i * batch.elements);
    } else {
      write_nan(args.out[0], i * batch.elements, batch.elements);
    }
  });
}

}  // namespace spruce::cpu
