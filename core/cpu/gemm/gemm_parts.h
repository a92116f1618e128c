// SPDX-License-Identifier: Apache-2.0
// What blocked products of matrices share: the parts that threads compute, and memory for packed
// operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/gemm/gemm.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {

/// At least that many bytes for packed operands, aligned to a page, until this thread asks again.
/// A thread keeps them until it ends. Throws std::bad_alloc.
void* packed_memory(size_t bytes);

/// The product of `m` rows from i on and `n` columns from j on, of elements of type T.
template <class T>
Gemm part_of(const Gemm& g, int64_t i, int64_t m, int64_t j, int64_t n) {
  Gemm part = g;
  part.m = m, part.n = n;
  part.a = static_cast<const T*>(g.a) + i * g.a_row;
  part.b = static_cast<const T*>(g.b) + j * g.b_col;
  part.c = static_cast<T*>(g.c) + i * g.c_row + j;
  return part;
}

/// Calls f(part, i, j) for parts of a product of elements of type T, on several threads where it
/// pays; the part begins at row i and column j. Columns are split between tiles, which are `high`
/// rows of `wide` columns.
template <class T, class F>
void in_grid(const Gemm& g, int64_t high, int64_t wide, const F& f) {
  const int64_t wanted = std::min<int64_t>(threads(), static_cast<int64_t>(work(g) / kThread));
  const int64_t panels = ceil_div(g.n, wide);
  int64_t down = 1, across = 1;
  for (int64_t i = 1; i <= wanted; ++i) {  // of the grids of that many parts, the squarest
    const int64_t j = wanted / i;
    if (i * high > g.m || j > panels || i * j < down * across) continue;
    if (i * j > down * across || g.m / i + g.n / j < g.m / down + g.n / across)
      down = i, across = j;
  }
  parallel_pieces(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t r = t / across, q = t % across;
      const int64_t i = r * g.m / down, j = q * panels / across * wide;
      const int64_t m = (r + 1) * g.m / down - i,
                    n = std::min(g.n, (q + 1) * panels / across * wide) - j;
      f(part_of<T>(g, i, m, j, n), i, j);
    }
  });
}

}  // namespace spruce::cpu
