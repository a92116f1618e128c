// SPDX-License-Identifier: Apache-2.0
// Kernels that treat each row (the last axis) by itself: softmax, its logarithm, layer norm. A
// kernel is a struct with
//   template <class I, class T> static SPRUCE_INLINE void row(const Extra& extra, const T* x, T* y,
//   int64_t n, int64_t r)
// and perhaps columns() for short ones, compiled per instruction set for f32 and f64; f16 and bf16
// go through rows of float.
#pragma once

#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/rows/unary_v4.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/parallel.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

/// The sum of sixteen lanes, in one order whatever the instruction set.
template <class T>
SPRUCE_INLINE T across(const T* v) {
  T s[8];
  for (int i = 0; i < 8; ++i) s[i] = v[i] + v[i + 8];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// The largest of kWide elements at a time from x[i] on, i left after the last of them.
template <int kWide, class T>
SPRUCE_INLINE T wide_max(const T* x, int64_t n, int64_t& i) {
  T best[kWide];
  for (int l = 0; l < kWide; ++l) best[l] = -std::numeric_limits<T>::infinity();
  for (; i + kWide <= n; i += kWide) {
    for (int l = 0; l < kWide; ++l) best[l] = x[i + l] > best[l] ? x[i + l] : best[l];
  }
  for (int half = kWide / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) best[l] = best[l + half] > best[l] ? best[l + half] : best[l];
  }
  return best[0];
}

/// The largest element that is no NaN; -inf for none.
template <class T>
SPRUCE_INLINE T row_max(const T* x, int64_t n) {
  T m = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  // So many that the compiler keeps a loop, which it turns into vectors.
  if (n >= 64) m = wide_max<64>(x, n, i);
  if (n - i >= 16) {
    const T w = wide_max<16>(x, n, i);
    m = w > m ? w : m;
  }
  for (; i < n; ++i) m = x[i] > m ? x[i] : m;
  return m;
}

/// Sum of f(x[i]) over the row, in sixteen lanes.
template <class T, class F>
SPRUCE_INLINE T row_sum(int64_t n, F f) {
  T total[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int l = 0; l < 16; ++l) total[l] += f(i + l);
  }
  T rest = 0;
  for (; i < n; ++i) rest += f(i);
  return n < 16 ? rest : across(total) + rest;
}

/// y[i] = e^(x[i] - shift) and their sum; for a null y the sum alone.
template <class I, class T>
SPRUCE_INLINE T exp_sum(const T* x, T shift, T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    static const ExpSum loop = exp_sum_v4();
    if (loop != nullptr) return loop(x, shift, y, n);
  }
  if (y == nullptr) {
    return row_sum<T>(
        n, [&](int64_t i) __attribute__((always_inline)) { return math::exp<I>(x[i] - shift); });
  }
  return row_sum<T>(
      n, [&](int64_t i)
             __attribute__((always_inline)) { return y[i] = math::exp<I>(x[i] - shift); });
}

/// Rows shorter than a vector go side by side: `Op::columns<I>(v, n)` works in place on kColumns of
/// them, v[i * kColumns + r] being element i of row r.
inline constexpr int64_t kColumns = 32;
inline constexpr int64_t kShortRow = 24;

/// The largest element of each that is no NaN; -inf for none.
template <class T>
SPRUCE_INLINE void column_max(const T* v, int64_t n, T* m) {
  for (int64_t r = 0; r < kColumns; ++r) m[r] = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t r = 0; r < kColumns; ++r)
      m[r] = v[i * kColumns + r] > m[r] ? v[i * kColumns + r] : m[r];
  }
}

template <class Op, class T>
concept HasColumns = requires(T* v) {
  Op::template columns<math::Isa<false>>(v, int64_t{1});
};

template <class Op, class I, class T>
SPRUCE_INLINE void short_rows(const T* x, T* y, int64_t n, int64_t count) {
  static const TransposeLoop transpose = transpose_loop(sizeof(T));
  alignas(64) T v[kShortRow * kColumns];
  for (int64_t first = 0; first < count; first += kColumns) {
    const int64_t rows = count - first < kColumns ? count - first : kColumns;
    if (rows < kColumns) {
      for (int64_t i = 0; i < n * kColumns; ++i) v[i] = T(0);
    }
    transpose(x + first * n, n, v, kColumns, n, rows);
    Op::template columns<I>(v, n);
    transpose(v, kColumns, y + first * n, n, rows, n);
  }
}

template <class Op, class T, class Extra>
struct Rows {
  template <class I>
  static SPRUCE_INLINE void body(const Extra& e, const T* x, T* y, int64_t n, int64_t begin,
                                 int64_t end) {
    if constexpr (HasColumns<Op, T>) {
      if (n <= kShortRow && end - begin >= 4) return short_rows<Op, I>(x, y, n, end - begin);
    }
    for (int64_t r = begin; r < end; ++r)
      Op::template row<I>(e, x + (r - begin) * n, y + (r - begin) * n, n, r);
  }

  /// x and y begin at row `begin`.
  using Loop = void (*)(const Extra&, const T*, T*, int64_t n, int64_t begin, int64_t end);

  SPRUCE_TARGET_BASE static void base(const Extra& e, const T* x, T* y, int64_t n, int64_t begin,
                                      int64_t end) {
    body<math::Isa<false>>(e, x, y, n, begin, end);
  }
  SPRUCE_TARGET_V3 static void v3(const Extra& e, const T* x, T* y, int64_t n, int64_t begin,
                                  int64_t end) {
    body<math::Isa<true>>(e, x, y, n, begin, end);
  }
  SPRUCE_TARGET_V4 static void v4(const Extra& e, const T* x, T* y, int64_t n, int64_t begin,
                                  int64_t end) {
    body<math::Isa<true>>(e, x, y, n, begin, end);
  }
  static Loop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else
      return pick<Loop>(&base, &v3, &v4);
  }
};

/// Rows of n halves that are worked on together, in f32, of `count`.
constexpr int64_t half_rows(int64_t n, int64_t count) {
  const int64_t block = 4096 / (n > 0 ? n : 1) + 1;
  // Few rows are not left over: they would be worked on in another way.
  return count < block + 4 ? count : block;
}

/// Bytes of workspace that rows of `count` halves take.
constexpr size_t half_rows_bytes(int64_t n, int64_t count) {
  return static_cast<size_t>(std::min(count, half_rows(n, count) + 3) * n) * sizeof(float);
}

/// Bytes of workspace that run_rows takes on the thread that calls it.
inline size_t rows_workspace(const Aval& in) {
  const int64_t n = in.shape.back();
  if (n == 0 || !is_half(in.dtype)) return 0;
  return workspace_size(half_rows_bytes(n, in.numel() / n));
}

/// Runs over rows of in[0] into out[0], of one floating dtype. `extra(T{})` makes what the rows
/// share, in type Extra<T>.
template <class Op, template <class> class Extra, class MakeExtra>
void run_rows(const View& in, const View& out, const MakeExtra& make_extra) {
  const int64_t n = in.shape().back(), count = n == 0 ? 0 : in.numel() / n;
  const int64_t grain = 131072 / (n > 0 ? n : 1) + 1;
  visit_dtype(in.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      static const auto loop = Rows<Op, T, Extra<T>>::best();
      const Extra<T> extra = make_extra(T{});
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        loop(extra, in.as<T>() + begin * n, out.as<T>() + begin * n, n, begin, end);
      });
    } else if constexpr (kIsHalf<T>) {
      static const auto loop = Rows<Op, float, Extra<float>>::best();
      const Extra<float> extra = make_extra(float{});
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        const Workspace floats(half_rows_bytes(n, end - begin));
        float* x = floats.as<float>();
        for (int64_t r = begin, rows; r < end; r += rows) {
          rows = half_rows(n, end - r);
          widen(in.as<T>() + r * n, x, rows * n);
          loop(extra, x, x, n, r, r + rows);
          narrow(x, out.as<T>() + r * n, rows * n);
        }
      });
    }
  });
}

}  // namespace spruce::cpu
