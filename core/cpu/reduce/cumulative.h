// SPDX-License-Identifier: Apache-2.0
// Running results along one axis. An operation is a struct with
//   template <class T> struct State { void start(); T next(T x); }     T: float for f16 and bf16
// whose state may be wider than T.
#pragma once

#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/parallel.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::cpu {

/// What sums and products of T run in: floats in f64, integers without a sign, so that they wrap.
template <class T>
using RunningTotal = std::conditional_t<std::is_floating_point_v<T>, double,
                                        std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

namespace internal {

/// y[k, j] for j < columns <= kCumulativeColumns, from x[k, j]; rows are `step` elements apart
/// (negative for running backwards), columns `column_step`.
using CumulativeLoop = void (*)(const void* x, void* y, int64_t n, int64_t step, int64_t columns,
                                int64_t column_step);

inline constexpr int64_t kCumulativeColumns = 64;
/// Elements of dense rows that run side by side, since each waits for its last result.
inline constexpr int64_t kCumulativeElements = 1024;
/// How many dense rows of n elements those are of.
inline int64_t cumulative_rows(int64_t n) { return n <= 16 ? kCumulativeColumns : 16; }

void run_cumulative(const KernelArgs& args, CumulativeLoop loop);

template <class State, class X>
SPRUCE_INLINE void advance(State* states, const X* x, X* y, int64_t n, int64_t step,
                           int64_t columns) {
  using T = std::conditional_t<kIsHalf<X>, float, X>;
  for (int64_t k = 0; k < n; ++k, x += step, y += step) {
    SPRUCE_INDEPENDENT
    for (int64_t j = 0; j < columns; ++j)
      y[j] = static_cast<X>(states[j].next(static_cast<T>(x[j])));
  }
}

// One column: its state waits in a register.
template <class State, class X>
SPRUCE_INLINE void advance_one(State state, const X* x, X* y, int64_t n, int64_t step) {
  using T = std::conditional_t<kIsHalf<X>, float, X>;
  for (int64_t k = 0; k < n; ++k)
    y[k * step] = static_cast<X>(state.next(static_cast<T>(x[k * step])));
}

template <class Op, class X>
SPRUCE_INLINE void cumulative_body(const X* x, X* y, int64_t n, int64_t step, int64_t columns,
                                   int64_t column_step) {
  using State = typename Op::template State<std::conditional_t<kIsHalf<X>, float, X>>;
  State states[kCumulativeColumns];
  for (int64_t j = 0; j < columns; ++j) states[j].start();
  if (column_step != 1 && columns < 4) {
    for (int64_t j = 0; j < columns; ++j)
      advance_one(states[j], x + j * column_step, y + j * column_step, n, step);
    return;
  }
  // Rows are transposed piece by piece; what lies in columns already is one piece.
  const bool transposes = column_step != 1;
  alignas(64) X transposed[kCumulativeElements];
  static const TransposeLoop transpose = transpose_loop(sizeof(X));
  const int64_t width = cumulative_rows(n), piece = transposes ? kCumulativeElements / width : n,
                by = transposes ? (step > 0 ? width : -width) : step;
  for (int64_t k = 0; k < n; k += piece) {
    const int64_t count = std::min(piece, n - k);
    const int64_t first = step > 0 ? k : -(k + count - 1);  // of the piece in memory
    const X* from = x;
    X* to = y;
    if (transposes) {
      transpose(x + first, column_step, transposed, width, count, columns);
      from = to = step > 0 ? transposed : transposed + (count - 1) * width;
    }
    advance(states, from, to, count, by, columns);
    if (transposes) transpose(transposed, width, y + first, column_step, columns, count);
  }
}

template <class Op, class X>
struct Cumulative {
  SPRUCE_TARGET_BASE static void base(const void* x, void* y, int64_t n, int64_t step,
                                      int64_t columns, int64_t column_step) {
    cumulative_body<Op>(static_cast<const X*>(x), static_cast<X*>(y), n, step, columns,
                        column_step);
  }
  SPRUCE_TARGET_V3 static void v3(const void* x, void* y, int64_t n, int64_t step, int64_t columns,
                                  int64_t column_step) {
    cumulative_body<Op>(static_cast<const X*>(x), static_cast<X*>(y), n, step, columns,
                        column_step);
  }
  SPRUCE_TARGET_V4 static void v4(const void* x, void* y, int64_t n, int64_t step, int64_t columns,
                                  int64_t column_step) {
    cumulative_body<Op>(static_cast<const X*>(x), static_cast<X*>(y), n, step, columns,
                        column_step);
  }
  // Floats are what programs wait for: the others have no loop of their own for AVX-512.
  static CumulativeLoop best() {
    if constexpr (std::is_floating_point_v<X>)
      return pick<CumulativeLoop>(&base, &v3, &v4);
    else
      return pick<CumulativeLoop>(&base, &v3, &v3);
  }
};

}  // namespace internal

/// The kernel of a cumulative primitive over numbers, or over floats alone.
template <class Op, bool kFloatingOnly = false>
void cumulative_kernel(const KernelArgs& args) {
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool> && !(kFloatingOnly && std::is_integral_v<T>)) {
      static const internal::CumulativeLoop loop = internal::Cumulative<Op, T>::best();
      internal::run_cumulative(args, loop);
    }
  });
}

}  // namespace spruce::cpu
