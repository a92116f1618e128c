// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "spruce/core/cpu/linalg/linalg.h"
#include "spruce/core/cpu/linalg/matrices.h"
#include "spruce/core/cpu/linalg/vectors.h"

namespace spruce::cpu {
namespace {

size_t lu_bytes(int64_t m, int64_t n) {
  return bytes_of<double>(m * n + m * std::min({kPanel, m, n}));
}

// By which pivots are chosen: NaN before all numbers, so that it is not overlooked.
double pivot_rank(double x) {
  return std::isnan(x) ? std::numeric_limits<double>::infinity() : std::abs(x);
}

// Columns k to end, rows k and below: a pivot for each, the largest in its column.
void factor_panel(const VectorLoops& v, double* a, int64_t m, int64_t n, int64_t k, int64_t end,
                  int32_t* pivots, int32_t* permutation) {
  for (int64_t j = k; j < end; ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < m; ++i) {
      if (pivot_rank(a[i * n + j]) > pivot_rank(a[pivot * n + j])) pivot = i;
    }
    pivots[j] = static_cast<int32_t>(pivot);
    if (pivot != j) {
      std::swap_ranges(a + j * n, a + (j + 1) * n, a + pivot * n);
      std::swap(permutation[j], permutation[pivot]);
    }
    const double top = a[j * n + j];
    if (top == 0) continue;  // so are all below
    for (int64_t i = j + 1; i < m; ++i) {
      double* row = a + i * n;
      row[j] /= top;
      add_scaled(v, -row[j], a + j * n + j + 1, row + j + 1, end - j - 1);
    }
  }
}

// a [m, n] becomes both factors. `panel` has room for m rows of the narrower of kPanel and them.
void factor_lu(double* a, int64_t m, int64_t n, int32_t* pivots, int32_t* permutation,
               double* panel) {
  const VectorLoops& v = vector_loops();
  const int64_t all = std::min(m, n);
  for (int64_t k = 0; k < all; k += kPanel) {
    const int64_t end = std::min(k + kPanel, all), width = end - k;
    factor_panel(v, a, m, n, k, end, pivots, permutation);
    if (end == n) continue;
    for (int64_t i = k; i < end; ++i) {
      subtract_rows(v, a + i * n + k, 1, a + k * n + end, n, i - k, a + i * n + end, n - end);
    }
    for (int64_t i = end; i < m; ++i) {
      for (int64_t j = 0; j < width; ++j) panel[(i - end) * width + j] = -a[i * n + k + j];
    }
    add_product(m - end, n - end, width, panel, width, 1, a + k * n + end, n, 1, a + end * n + end,
                n);
  }
}

}  // namespace

size_t lu_workspace(const PrepareArgs& args) {
  const MatrixBatch batch(args.in[0]->shape);
  return workspace_size(lu_bytes(batch.rows, batch.columns));
}

void lu_kernel(const KernelArgs& args) {
  const MatrixBatch batch(args.in[0].shape());
  const int64_t m = batch.rows, n = batch.columns, k = std::min(m, n);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / 3;
  for_each_matrix(batch.count, work, lu_bytes(m, n), [&](int64_t i, double* memory) {
    read_doubles(args.in[0], i * batch.elements, batch.elements, memory);
    int32_t* permutation = args.out[2].as<int32_t>() + i * m;
    std::iota(permutation, permutation + m, 0);
    factor_lu(memory, m, n, args.out[1].as<int32_t>() + i * k, permutation,
              memory + batch.elements);
    write_doubles(memory, batch.elements, args.out[0], i * batch.elements);
  });
}

}  // namespace spruce::cpu
