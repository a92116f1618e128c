// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/matrices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/half.h"

namespace spruce::cpu {
namespace {

// Calls f with an element of the dtype, which is floating.
template <class F>
void visit_floating(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kFloat64:
      return f(double{});
    case Dtype::kFloat32:
      return f(float{});
    case Dtype::kFloat16:
      return f(Float16{});
    default:
      return f(Bfloat16{});
  }
}

}  // namespace

void read_doubles(const View& from, int64_t first, int64_t n, double* to) {
  visit_floating(from.dtype(), [&]<class T>(T) {
    const T* x = from.as<T>() + first;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsHalf<T>)
        to[i] = static_cast<float>(x[i]);
      else
        to[i] = x[i];
    }
  });
}

void write_doubles(const double* from, int64_t n, const View& to, int64_t first) {
  visit_floating(to.dtype(), [&]<class T>(T) {
    T* y = to.as<T>() + first;
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(from[i]);
  });
}

void write_nan(const View& to, int64_t first, int64_t n) {
  visit_floating(to.dtype(), [&]<class T>(T) {
    std::fill_n(to.as<T>() + first, n, static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
  });
}

void transpose_matrix(const double* from, int64_t rows, int64_t columns, double* to) {
  static const TransposeLoop loop = transpose_loop(sizeof(double));
  loop(from, columns, to, rows, columns, rows);
}

void sort_rows(int64_t n, bool falls, double* d, double* x, double* y) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t next =
        (falls ? std::max_element(d + i, d + n) : std::min_element(d + i, d + n)) - d;
    if (next == i) continue;
    std::swap(d[i], d[next]);
    for (double* rows : {x, y}) {
      if (rows != nullptr) std::swap_ranges(rows + i * n, rows + (i + 1) * n, rows + next * n);
    }
  }
}

bool needs_flip(const double* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  for (int64_t i = 0; i < n; ++i) {
    if (std::abs(x[i]) >= rules::kSignShare * largest) return x[i] < 0;
  }
  return false;
}

bool all_finite(const double* x, int64_t n) {
  return std::all_of(x, x + n, [](double e) { return std::isfinite(e); });
}

void add_product(int64_t m, int64_t n, int64_t k, const double* a, int64_t a_row, int64_t a_col,
                 const double* b, int64_t b_row, int64_t b_col, double* c, int64_t c_row) {
  if (m == 0 || n == 0 || k == 0) return;
  Gemm g;
  g.m = m, g.n = n, g.k = k;
  g.a = a, g.a_row = a_row, g.a_col = a_col;
  g.b = b, g.b_row = b_row, g.b_col = b_col;
  g.c = c, g.c_row = c_row;
  g.accumulate = true;
  gemm(Dtype::kFloat64, g);
}

}  // namespace spruce::cpu
