// SPDX-License-Identifier: Apache-2.0
// What the kernels of decompositions share. Whatever the dtype, they compute in f64 and round once,
// at the end: one kernel serves all, and f32 loses nothing in long chains of subtractions.
#pragma once

#include <cstdint>

#include "spruce/core/parallel.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

/// Rows or columns that are eliminated by themselves before a product brings all others up to date.
inline constexpr int64_t kPanel = 32;

using rules::MatrixBatch;

/// `n` elements of a floating operand from number `first` on, as f64.
void read_doubles(const View& from, int64_t first, int64_t n, double* to);
/// The same way back, rounded.
void write_doubles(const double* from, int64_t n, const View& to, int64_t first);
/// NaN in all of the n elements from number `first` on.
void write_nan(const View& to, int64_t first, int64_t n);
/// to[j, i] = from[i, j] of a dense [rows, columns] matrix.
void transpose_matrix(const double* from, int64_t rows, int64_t columns, double* to);
/// d [n] rises, or falls; the rows of x and y [n, n], null where there are none, follow it.
void sort_rows(int64_t n, bool falls, double* d, double* x, double* y);
/// True for a vector whose opposite is to be given (rules::kSignShare).
bool needs_flip(const double* x, int64_t n);
/// True if no element is infinite or NaN.
bool all_finite(const double* x, int64_t n);

/// c += a b, each with its distance between rows (and columns): a [m, k], b [k, n], c [m, n].
void add_product(int64_t m, int64_t n, int64_t k, const double* a, int64_t a_row, int64_t a_col,
                 const double* b, int64_t b_row, int64_t b_col, double* c, int64_t c_row);

/// Calls f(i, memory) for each of `count` matrices that take about `work` multiply-adds, with a
/// workspace of `bytes` of their own, on several threads where there are several that are worth it.
template <class F>
void for_each_matrix(int64_t count, double work, size_t bytes, F&& f) {
  constexpr double kWorthAThread = 1 << 16;
  const auto grain = static_cast<int64_t>(1 + kWorthAThread / (work + 1));
  parallel_pieces(count, grain, [&](int64_t begin, int64_t end) {
    const Workspace memory(bytes);
    for (int64_t i = begin; i < end; ++i) f(i, memory.as<double>());
  });
}

}  // namespace spruce::cpu
