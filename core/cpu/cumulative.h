// SPDX-License-Identifier: Apache-2.0
// Running results along one axis. An operation is a struct with
//   template <class T> struct State { void start(); T next(T x); }     T: float for f16 and bf16
// whose state may be wider than T.
#pragma once

#include <algorithm>

#include "spruce/core/cpu/parallel.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::cpu {
namespace internal {

/// y[k, j] for j < columns, from x[k, j]; rows are `step` elements apart (negative for running
/// backwards), columns `column_step`.
using CumulativeLoop = void (*)(const void* x, void* y, int64_t n, int64_t step, int64_t columns,
                                int64_t column_step);

inline constexpr int64_t kCumulativeColumns = 64;

void run_cumulative(const KernelArgs& args, CumulativeLoop loop);

template <class Op, class X>
void cumulative_loop(const void* from, void* to, int64_t n, int64_t step, int64_t columns,
                     int64_t column_step) {
  using T = std::conditional_t<std::is_same_v<X, Float16> || std::is_same_v<X, Bfloat16>, float, X>;
  const X* x = static_cast<const X*>(from);
  X* y = static_cast<X*>(to);
  using State = typename Op::template State<T>;
  constexpr int kTogether =
      8;  // dense rows that run side by side, since each waits for its last result
  if (column_step != 1 && columns == kTogether) {
    State states[kTogether];
    for (State& s : states) s.start();
    for (int64_t k = 0; k < n; ++k, x += step, y += step) {
      for (int j = 0; j < kTogether; ++j)
        y[j * column_step] = static_cast<X>(states[j].next(static_cast<T>(x[j * column_step])));
    }
    return;
  }
  State states[kCumulativeColumns];
  for (int64_t j = 0; j < columns; ++j) states[j].start();
  for (int64_t k = 0; k < n; ++k, x += step, y += step) {
    for (int64_t j = 0; j < columns; ++j)
      y[j * column_step] = static_cast<X>(states[j].next(static_cast<T>(x[j * column_step])));
  }
}

}  // namespace internal

/// The kernel of a cumulative primitive over numbers, or over floats alone.
template <class Op, bool kFloatingOnly = false>
void cumulative_kernel(const KernelArgs& args) {
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool> && !(kFloatingOnly && std::is_integral_v<T>)) {
      internal::run_cumulative(args, &internal::cumulative_loop<Op, T>);
    }
  });
}

}  // namespace spruce::cpu
