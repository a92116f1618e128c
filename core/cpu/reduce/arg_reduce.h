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
    // Positions of 32 bits, which have as many lanes as most elements, within so many rows.
    constexpr int64_t kRows = int64_t{1} << 30;
    A best[kArgColumns];
    int32_t at[kArgColumns];
    for (int64_t j = 0; j < columns; ++j) {
      best[j] = static_cast<A>(x[j]);
      positions[j] = 0;
    }
    for (int64_t first = 0; first < n; first += kRows) {
      const auto rows = static_cast<int32_t>(std::min(kRows, n - first));
      std::fill_n(at, columns, -1);
      for (int32_t k = 0; k < rows; ++k) {
        const X* row = x + (first + k) * step;
        for (int64_t j = 0; j < columns; ++j) {
          const A value = static_cast<A>(row[j]);
          const bool better = Op::better(best[j], value);
          best[j] = better ? value : best[j];
          at[j] = better ? k : at[j];
        }
      }
      for (int64_t j = 0; j < columns; ++j) positions[j] = at[j] < 0 ? positions[j] : first + at[j];
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
  // Other integers have no loop of their own for AVX2.
  static ArgReduceLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0 || (std::is_integral_v<X> && sizeof(X) != 4))
      return &base;
    else
      return pick<ArgReduceLoop>(&base, &v3, &v3);
  }
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
