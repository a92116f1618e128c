// SPDX-License-Identifier: Apache-2.0
// Positions of extreme elements along one axis.
#pragma once

#include <algorithm>

#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {

namespace internal {

/// positions[j] = the first k for which x[k * step + j] is the best, for j < columns.
using ArgReduceLoop = void (*)(const void* x, int64_t* positions, int64_t n, int64_t step,
                               int64_t columns);

inline constexpr int64_t kArgColumns = 256;

template <class Op, class X, class A>
struct ArgReduce {
  // Blocks whose best element is the best so far are remembered; only the last of them is searched.
  static SPRUCE_INLINE int64_t dense(const X* x, int64_t n) {
    constexpr int64_t kBlock = 1024;
    static const ReduceLoop extreme = Reduce<Op, X, A>::best();
    A best = static_cast<A>(x[0]);
    int64_t block = 0;
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      A here;
      extreme(x + i, &here, 1, count, 1, 1);
      if (!Op::better(best, here)) continue;
      best = here;
      block = i;
    }
    for (int64_t i = block;; ++i) {
      const A value = static_cast<A>(x[i]);
      if (value == best || (best != best && value != value)) return i;
    }
  }

  static SPRUCE_INLINE void body(const void* from, int64_t* positions, int64_t n, int64_t step,
                                 int64_t columns) {
    const X* x = static_cast<const X*>(from);
    if (step == 1) {
      *positions = dense(x, n);
      return;
    }
    A best[kArgColumns];
    for (int64_t j = 0; j < columns; ++j) {
      best[j] = static_cast<A>(x[j]);
      positions[j] = 0;
    }
    for (int64_t k = 1; k < n; ++k) {
      const X* row = x + k * step;
      for (int64_t j = 0; j < columns; ++j) {
        const A value = static_cast<A>(row[j]);
        const bool better = Op::better(best[j], value);
        best[j] = better ? value : best[j];
        positions[j] = better ? k : positions[j];
      }
    }
  }

  SPRUCE_TARGET_BASE static void base(const void* x, int64_t* p, int64_t n, int64_t step,
                                      int64_t columns) {
    body(x, p, n, step, columns);
  }
  SPRUCE_TARGET_V3 static void v3(const void* x, int64_t* p, int64_t n, int64_t step,
                                  int64_t columns) {
    body(x, p, n, step, columns);
  }
  static ArgReduceLoop best() { return pick<ArgReduceLoop>(&base, &v3, &v3); }
};

void run_arg_reduce(const KernelArgs& args, ArgReduceLoop loop);

}  // namespace internal

/// The kernel of argmax and argmin: Op is Largest or Smallest.
template <class Op>
void arg_reduce_kernel(const KernelArgs& args) {
  visit_dtype(args.in[0].dtype(), [&]<class T>(T) {
    using X = typename internal::ReduceElement<T, false>::type;
    using A = std::conditional_t<kIsHalf<T>, float, X>;
    internal::run_arg_reduce(args, internal::ArgReduce<Op, X, A>::best());
  });
}

}  // namespace spruce::cpu
