// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/gemm/gemm_amx.h"
#include "spruce/core/cpu/gemm/gemm_blocked.h"
#include "spruce/core/cpu/gemm/gemm_integer.h"
#include "spruce/core/cpu/gemm/gemm_parts.h"
#include "spruce/core/cpu/gemm/gemm_small.h"
#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/gemm/onednn.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {
namespace {

// oneDNN sums in another order when the sizes or its threads change. So it gets tiles of fixed
// sizes, one thread each, about as high (wide) as the others.
constexpr int64_t kTileRows = 256;
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kFlatRows = kTileRows;  // up to these, tiles are narrower
constexpr int64_t kFlatColumns = 256;

// In parts of fixed sizes, on several threads; false where oneDNN does not take one.
bool sgemm_in_parts(const Gemm& g) {
  const int64_t columns = g.m <= kFlatRows ? kFlatColumns : kTileColumns;
  const int64_t down = ceil_div(g.m, kTileRows), across = ceil_div(g.n, columns);
  std::atomic<bool> ok = true;
  parallel_pieces(down * across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t r = t / across, q = t % across, i = r * g.m / down, j = q * g.n / across;
      const int64_t m = (r + 1) * g.m / down - i, n = (q + 1) * g.n / across - j;
      if (!onednn::sgemm(part_of<float>(g, i, m, j, n))) ok = false;
    }
  });
  return ok;
}

void float_gemm(const Gemm& g) {
  const double n = work(g);
  const bool line = (g.m == 1 || g.n == 1) && n > 4096;  // the product with a vector
  const bool large = n >= kSmallGemm && isa_level() == IsaLevel::kBase;
  if (g.k > 0 && (large || line) && onednn::takes_sgemm(g) && sgemm_in_parts(g)) return;
  gemm_blocked<float>(g);
}

// True for a matrix that is dense along its columns alone.
bool by_columns(int64_t row, int64_t col) { return col != 1 && row == 1; }

// A matrix of halves as one of floats, dense along the axis that was.
template <class T>
void widened(const void* data, int64_t rows, int64_t cols, int64_t row, int64_t col, float* to) {
  const T* const from = static_cast<const T*>(data);
  const bool turned = by_columns(row, col);
  const int64_t lines = turned ? cols : rows, length = turned ? rows : cols,
                step = turned ? col : row;
  if (turned || col == 1) {
    for (int64_t i = 0; i < lines; ++i) widen(from + i * step, to + i * length, length);
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j)
      to[i * cols + j] = static_cast<float>(from[i * row + j * col]);
  }
}

// The product of operands that have been widened.
Gemm of_floats(const Gemm& g) {
  Gemm f = g;
  const auto set = [](int64_t rows, int64_t cols, int64_t* row, int64_t* col) {
    const bool turned = by_columns(*row, *col);
    *row = turned ? 1 : cols, *col = turned ? rows : 1;
  };
  set(g.m, g.k, &f.a_row, &f.a_col);
  set(g.k, g.n, &f.b_row, &f.b_col);
  f.c_row = g.n;
  return f;
}

template <class T>
void half_gemm(const Gemm& g) {
  if constexpr (std::is_same_v<T, Bfloat16>) {
    if (takes_amx(g)) return gemm_amx(g);
    if (has_bf16_tiles()) return gemm_blocked<T>(g);
  }
  const Workspace a(bytes_of(g.m * g.k)), b(bytes_of(g.k * g.n)), sums(bytes_of(g.m * g.n));
  widened<T>(g.a, g.m, g.k, g.a_row, g.a_col, a.as<float>());
  widened<T>(g.b, g.k, g.n, g.b_row, g.b_col, b.as<float>());
  Gemm f = of_floats(g);
  f.a = a.data(), f.b = b.data(), f.c = sums.data();
  float_gemm(f);
  for (int64_t i = 0; i < g.m; ++i)
    narrow(sums.as<float>() + i * g.n, static_cast<T*>(g.c) + i * g.c_row, g.n);
}

size_t half_workspace(Dtype dtype, const Gemm& g) {
  if (dtype == Dtype::kBfloat16 && takes_amx(g)) return gemm_amx_workspace(g);
  if (dtype == Dtype::kBfloat16 && has_bf16_tiles()) return gemm_blocked_workspace<Bfloat16>(g);
  return workspace_size(bytes_of(g.m * g.k)) + workspace_size(bytes_of(g.k * g.n)) +
         workspace_size(bytes_of(g.m * g.n)) + gemm_blocked_workspace<float>(of_floats(g));
}

// A row as a column, so that the rows of b need no packing.
bool is_row(const Gemm& g) { return g.m == 1 && g.b_col != 1; }

Gemm as_column(const Gemm& g) {
  Gemm t = g;
  t.m = g.n, t.n = 1;
  t.a = g.b, t.a_row = g.b_col, t.a_col = g.b_row;
  t.b = g.a, t.b_row = g.a_col, t.b_col = 1;
  t.c_row = 1;
  return t;
}

}  // namespace

void gemm(Dtype dtype, const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (is_row(g)) return gemm(dtype, as_column(g));
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, float>)
      float_gemm(g);
    else if constexpr (std::is_integral_v<T>)
      gemm_integer<T>(g);
    else if constexpr (std::is_same_v<T, double>)
      gemm_blocked<double>(g);
    else
      half_gemm<T>(g);
  });
}

size_t gemm_workspace(Dtype dtype, const Gemm& g) {
  if (g.m == 0 || g.n == 0 || !is_floating(dtype)) return 0;
  if (is_row(g)) return gemm_workspace(dtype, as_column(g));
  if (dtype == Dtype::kFloat32) return gemm_blocked_workspace<float>(g);
  if (dtype == Dtype::kFloat64) return gemm_blocked_workspace<double>(g);
  return half_workspace(dtype, g);
}

void gemm_batched(Dtype dtype, const Gemm& g, int64_t count, const int64_t* a_offset,
                  const int64_t* b_offset, int64_t c_step) {
  const int64_t bytes = size_of(dtype);
  const auto run = [&](int64_t begin, int64_t end) {
    Gemm one = g;
    for (int64_t i = begin; i < end; ++i) {
      if (a_offset != nullptr) one.a = static_cast<const char*>(g.a) + a_offset[i] * bytes;
      if (b_offset != nullptr) one.b = static_cast<const char*>(g.b) + b_offset[i] * bytes;
      one.c = static_cast<char*>(g.c) + i * c_step * bytes;
      gemm(dtype, one);
    }
  };
  const double each = work(g);
  if (count == 1 || (each > 16 * kThread && count < threads())) return run(0, count);
  const auto grain = static_cast<int64_t>(std::max(1.0, 64 * kThread / std::max(each, 1.0)));
  parallel_for(count * 64, grain,
               [&](int64_t begin, int64_t end) { run(begin / 64, (end + 63) / 64); });
}

}  // namespace spruce::cpu
