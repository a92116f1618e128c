// SPDX-License-Identifier: Apache-2.0
// Reductions with one associative operation, in an order that the shape alone fixes: blocks are
// reduced, then their results in the same way, so that rounding errors grow with the logarithm of
// the length. An operation is a struct with
//   template <class T> static constexpr T identity()
//   template <class T> static SPRUCE_INLINE T call(T a, T b)
#pragma once

#include <limits>

#include "spruce/core/cpu/elementwise/half.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/transpose.h"
#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/workspace.h"

namespace spruce::cpu {

/// How many rows a loop reduces at once; the results of more are reduced in the same way. Of rows
/// with more than 16 elements: it takes shorter ones together.
inline constexpr int64_t kReducedRows = 64;

/// Reduces over the axes of the ReduceParams, which rise.
void run_reduction(const KernelArgs& args, const ReduceLoops& loops);
/// Bytes of workspace that run_reduction takes.
size_t reduce_workspace(const PrepareArgs& args);

namespace internal {

// Rows of n < kMost numbers, many at a time, in the order of Reduce::dense: the vectors of each row
// are joined to one, which with what follows them is a row of a matrix whose columns are joined.
template <class Op, class T>
struct ShortRows {
  static constexpr int64_t kNarrow = 64 / sizeof(T), kWide = 4 * kNarrow, kMost = 2 * kWide,
                           kRows = 64;

  static SPRUCE_INLINE void join(T* y, const T* x, int64_t count) {
    SPRUCE_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) y[j] = Op::call(y[j], x[j]);
  }
  // The vectors of n >= 2 kNarrow numbers, and what follows them. Loops that are not unrolled
  // become vectors also where Op compares.
  static SPRUCE_INLINE void join_vectors(const T* x, T* y, int64_t n) {
    int64_t i = 2 * kNarrow;
    if (n >= kWide) {
#pragma GCC unroll 1
      for (int64_t l = 0; l < kNarrow; ++l)
        y[l] = Op::call(Op::call(x[l], x[l + 2 * kNarrow]),
                        Op::call(x[l + kNarrow], x[l + 3 * kNarrow]));
      i = kWide;
    } else {
#pragma GCC unroll 1
      for (int64_t l = 0; l < kNarrow; ++l) y[l] = Op::call(x[l], x[l + kNarrow]);
    }
    for (; i + kNarrow <= n; i += kNarrow) {
#pragma GCC unroll 1
      for (int64_t l = 0; l < kNarrow; ++l) y[l] = Op::call(y[l], x[i + l]);
    }
    for (int64_t k = kNarrow; i < n; ++i, ++k) y[k] = x[i];
  }
  static SPRUCE_INLINE void body(const T* x, T* y, int64_t rows, int64_t n) {
    static const TransposeLoop transpose = transpose_loop(sizeof(T));
    alignas(64) T joined[2 * kNarrow * kRows], transposed[2 * kNarrow * kRows];
    const auto column = [&](int64_t k) { return transposed + k * kRows; };
    const int64_t lanes = n >= kNarrow ? kNarrow : 0, width = lanes + n % kNarrow;
    for (int64_t r = 0; r < rows; r += kRows, x += kRows * n, y += kRows) {
      const int64_t count = kRows < rows - r ? kRows : rows - r;
      for (int64_t i = 0; width < n && i < count; ++i)
        join_vectors(x + i * n, joined + i * width, n);
      transpose(width < n ? joined : x, width, transposed, kRows, width, count);
      for (int64_t half = lanes / 2; half > 0; half /= 2) {
        for (int64_t k = 0; k < half; ++k) join(column(k), column(k + half), count);
      }
      for (int64_t j = 0; j < count; ++j)
        y[j] = lanes > 0 ? transposed[j] : Op::template identity<T>();
      for (int64_t k = lanes; k < width; ++k) join(y, column(k), count);
    }
  }
  SPRUCE_TARGET_BASE static void base(const T* x, T* y, int64_t rows, int64_t n) {
    body(x, y, rows, n);
  }
  SPRUCE_TARGET_V3 static void v3(const T* x, T* y, int64_t rows, int64_t n) {
    body(x, y, rows, n);
  }
  static auto best() { return pick(&base, &v3, &v3); }
};

// Loops over elements X that are reduced as A: the same type, or float for the 16-bit floats. Lanes
// are plain arrays that compilers keep in vector registers: vector types would be split up before
// they reach a function with its instructions.
template <class Op, class X, class A>
struct Reduce {
  static constexpr int kNarrow = 64 / static_cast<int>(sizeof(A)), kWide = 4 * kNarrow;
  static constexpr int64_t kAhead = 2048 / sizeof(A);  // elements that are fetched ahead
  static constexpr int64_t kBuffer = 8192;             // elements that are widened at a time

  template <int kFrom, int kTo>
  static SPRUCE_INLINE void fold(A* lanes) {
    for (int width = kFrom / 2; width >= kTo; width /= 2) {
      for (int l = 0; l < width; ++l) lanes[l] = Op::call(lanes[l], lanes[l + width]);
    }
  }

  static SPRUCE_INLINE A dense(const A* x, int64_t n) {
    A result = Op::template identity<A>();
    int64_t i = 0;
    if (n >= kNarrow) {
      A lanes[kWide];
      if (n >= kWide) {
        for (int l = 0; l < kWide; ++l) lanes[l] = x[l];
        for (i = kWide; i + kWide <= n; i += kWide) {
#pragma GCC unroll 4
          for (int l = 0; l < kWide; l += kNarrow) __builtin_prefetch(x + i + l + kAhead);
          for (int l = 0; l < kWide; ++l) lanes[l] = Op::call(lanes[l], x[i + l]);
        }
        fold<kWide, kNarrow>(lanes);
      } else {
        for (int l = 0; l < kNarrow; ++l) lanes[l] = x[l];
        i = kNarrow;
      }
      for (; i + kNarrow <= n; i += kNarrow) {
        for (int l = 0; l < kNarrow; ++l) lanes[l] = Op::call(lanes[l], x[i + l]);
      }
      fold<kNarrow, 1>(lanes);
      result = lanes[0];
    }
    for (; i < n; ++i) result = Op::call(result, x[i]);
    return result;
  }

  // y[j] takes in rows that are `step` apart.
  static SPRUCE_INLINE void columns(const A* x, A* y, int64_t n, int64_t step, int64_t count) {
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
      const A *r = x + k * step, *r1 = r + step, *r2 = r1 + step, *r3 = r2 + step;
      SPRUCE_INDEPENDENT
      for (int64_t j = 0; j < count; ++j)
        y[j] = Op::call(y[j], Op::call(Op::call(r[j], r1[j]), Op::call(r2[j], r3[j])));
    }
    for (; k < n; ++k) {
      const A* r = x + k * step;
      SPRUCE_INDEPENDENT
      for (int64_t j = 0; j < count; ++j) y[j] = Op::call(y[j], r[j]);
    }
  }

  // The same where rows are short and follow each other: several of them are one row for the
  // vectors. All of it goes through one loop, which is the larger part of the machine code.
  static SPRUCE_INLINE void block(const A* x, A* y, int64_t n, int64_t step, int64_t count) {
    struct Part {
      const A* x;
      A* y;
      int64_t n, step, count;
    };
    A wide[64];
    Part parts[3] = {{x, y, n, step, count}};
    int last = 0;
    const int64_t together = step <= 16 && count == step ? 64 / step : n + 1, rows = n / together;
    if (rows >= 8) {
      const int64_t width = step * together;
      for (int64_t j = 0; j < width; ++j) wide[j] = Op::template identity<A>();
      parts[0] = {x, wide, rows, width, width};
      parts[1] = {wide, y, together, step, step};
      parts[2] = {x + rows * width, y, n - rows * together, step, step};
      last = 2;
    }
    for (int k = 0; k <= last; ++k)
      columns(parts[k].x, parts[k].y, parts[k].n, parts[k].step, parts[k].count);
  }

  static SPRUCE_INLINE void widened_block(const X* x, A* y, int64_t n, int64_t step,
                                          int64_t count) {
    A buffer[kBuffer];
    const int64_t rows = kBuffer / count;  // count is at most a tile
    for (int64_t k = 0; k < n; k += rows) {
      const int64_t now = rows < n - k ? rows : n - k;
      if (count == step)
        widen(x + k * step, buffer, now * count);
      else
        for (int64_t r = 0; r < now; ++r) widen(x + (k + r) * step, buffer + r * count, count);
      block(buffer, y, now, count, count);
    }
  }

  // Many rows that are too short for the lanes of dense().
  [[gnu::noinline]] static void short_rows(const X* x, A* y, int64_t rows, int64_t n) {
    static const auto loop = ShortRows<Op, A>::best();
    if constexpr (std::is_same_v<X, A>) {
      loop(x, y, rows, n);
    } else {
      A buffer[kBuffer];
      const int64_t together = kBuffer / n;
      for (int64_t r = 0; r < rows; r += together) {
        const int64_t now = together < rows - r ? together : rows - r;
        widen(x + r * n, buffer, now * n);
        loop(buffer, y + r, now, n);
      }
    }
  }

  static SPRUCE_INLINE void body(const void* from, void* to, int64_t outer, int64_t n, int64_t step,
                                 int64_t count) {
    const X* x = static_cast<const X*>(from);
    A* y = static_cast<A*>(to);
    if constexpr (std::is_floating_point_v<A> || (std::is_integral_v<A> && sizeof(A) == 4)) {
      if (step == 1 && n > 0 && n < ShortRows<Op, A>::kMost && outer >= 8)
        return short_rows(x, y, outer, n);
    }
    for (int64_t o = 0; o < outer; ++o, x += n * step, y += step) {
      if constexpr (std::is_same_v<X, A>) {
        if (step == 1) {
          *y = dense(x, n);
          continue;
        }
      } else if (step == 1) {
        A buffer[kBuffer];
        widen(x, buffer, n);  // a dense block is shorter than the buffer
        *y = dense(buffer, n);
        continue;
      }
      for (int64_t j = 0; j < count; ++j) y[j] = Op::template identity<A>();
      if constexpr (std::is_same_v<X, A>)
        block(x, y, n, step, count);
      else
        widened_block(x, y, n, step, count);
    }
  }

  SPRUCE_TARGET_BASE static void base(const void* x, void* y, int64_t outer, int64_t n,
                                      int64_t step, int64_t count) {
    body(x, y, outer, n, step, count);
  }
  SPRUCE_TARGET_V3 static void v3(const void* x, void* y, int64_t outer, int64_t n, int64_t step,
                                  int64_t count) {
    body(x, y, outer, n, step, count);
  }
  SPRUCE_TARGET_V4 static void v4(const void* x, void* y, int64_t outer, int64_t n, int64_t step,
                                  int64_t count) {
    body(x, y, outer, n, step, count);
  }
  // The 8-byte and 4-byte floats are what programs wait for: the others have no loop of their own
  // for AVX-512.
  static ReduceLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else if constexpr (std::is_floating_point_v<X>)
      return pick<ReduceLoop>(&base, &v3, &v4);
    else
      return pick<ReduceLoop>(&base, &v3, &v3);
  }
};

// The elements as they are reduced: bool as bytes; where kUnsigned, signed integers as unsigned
// ones, which wrap.
template <class T, bool kUnsigned>
struct ReduceElement {
  using type = T;
};
template <>
struct ReduceElement<bool, false> {
  using type = uint8_t;
};
template <class T>
requires std::is_integral_v<T>
struct ReduceElement<T, true> {
  using type = std::make_unsigned_t<T>;
};
template <>
struct ReduceElement<bool, true> {
  using type = uint8_t;
};

}  // namespace internal

/// The loops of a reduction. Op::kUnsigned: signed integers are reduced as unsigned ones;
/// Op::accepts<T>(): the dtypes that the shape rule lets through.
template <class Op>
ReduceLoops reduce_loops(Dtype dtype) {
  ReduceLoops loops;
  visit_dtype(dtype, [&]<class T>(T) {
    if constexpr (Op::template accepts<T>()) {
      if constexpr (kIsHalf<T>) {
        static const ReduceLoop first = internal::Reduce<Op, T, float>::best(),
                                next = internal::Reduce<Op, float, float>::best();
        loops = {first, next, sizeof(float)};
      } else {
        using X = typename internal::ReduceElement<T, Op::kUnsigned>::type;
        static const ReduceLoop loop = internal::Reduce<Op, X, X>::best();
        loops = {loop, loop, sizeof(X)};
      }
    }
  });
  return loops;
}

/// Runs a reduction whose params are ReduceParams.
template <class Op>
void reduce_with(const KernelArgs& args) {
  run_reduction(args, reduce_loops<Op>(args.in[0].dtype()));
}

/// Its kernel.
template <class Op>
inline constexpr CpuKernel reduce_kernel{reduce_with<Op>, reduce_loops<Op>};

}  // namespace spruce::cpu
