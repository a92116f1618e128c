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

/// y[k, j] for j < columns, from x[k, j]; rows are `step` elements apart, negative for running backwards.
using CumulativeLoop = void (*)(const void* x, void* y, int64_t n, int64_t step, int64_t columns);

inline constexpr int64_t kCumulativeColumns = 64;

void run_cumulative(const KernelArgs& args, CumulativeLoop loop);

template <class Op, class X>
void cumulative_loop(const void* from, void* to, int64_t n, int64_t step, int64_t columns) {
  using T = std::conditional_t<std::is_same_v<X, Float16> || std::is_same_v<X, Bfloat16>, float, X>;
  const X* x = static_cast<const X*>(from);
  X* y = static_cast<X*>(to);
  typename Op::template State<T> states[kCumulativeColumns];
  for (int64_t j = 0; j < columns; ++j) states[j].start();
  for (int64_t k = 0; k < n; ++k, x += step, y += step) {
    for (int64_t j = 0; j < columns; ++j) y[j] = static_cast<X>(states[j].next(static_cast<T>(x[j])));
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
