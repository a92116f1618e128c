// SPDX-License-Identifier: Apache-2.0
// Reductions with one associative operation, in an order that the shape alone fixes: blocks are reduced, then their
// results in the same way, so that rounding errors grow with the logarithm of the length. An operation is a struct with
//   template <class T> static constexpr T identity()
//   template <class T> static SPRUCE_INLINE T call(T a, T b)           of two numbers
//   template <class V> static SPRUCE_INLINE void fold(V& a, const V& b)     a = call(a, b) in each lane
#pragma once

#include <cstring>
#include <limits>
#include <memory>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::cpu {

/// For each of `outer` blocks of n rows of `step` elements: to[j] = the reduction over k of from[k, j], for j < columns.
/// Blocks of `to` are `step` accumulators apart.
using ReduceLoop = void (*)(const void* from, void* to, int64_t outer, int64_t n, int64_t step, int64_t columns);

/// The loops of one operation and dtype: from elements to accumulators, and from accumulators to accumulators.
struct ReduceLoops {
  ReduceLoop first;
  ReduceLoop next;
  int64_t accumulator_bytes;
};

/// Reduces over `axes`, which rise, of `from`; `to` holds accumulators.
void run_reduce(const View& from, const Axes& axes, void* to, const ReduceLoops& loops);
/// Rounds n floats to f16 or bf16.
void round_to_half(const float* from, const View& to);

namespace internal {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

template <class Op, class X, class A>
struct Reduce {
  static constexpr int kLanes = 64 / static_cast<int>(sizeof(A));
  typedef A Vector __attribute__((vector_size(64)));

  static SPRUCE_INLINE void load(Vector& v, const X* x) {
    if constexpr (std::is_same_v<X, A>) {
      std::memcpy(&v, x, sizeof v);
    } else {
      A lanes[kLanes];
      for (int l = 0; l < kLanes; ++l) lanes[l] = static_cast<A>(x[l]);
      std::memcpy(&v, lanes, sizeof v);
    }
  }

  static SPRUCE_INLINE A dense(const X* x, int64_t n) {
    A result = Op::template identity<A>();
    int64_t i = 0;
    if (n >= kLanes) {
      Vector a, b, c, d, v;
      load(a, x);
      i = kLanes;
      if (n >= 4 * kLanes) {
        load(b, x + kLanes);
        load(c, x + 2 * kLanes);
        load(d, x + 3 * kLanes);
        for (i = 4 * kLanes; i + 4 * kLanes <= n; i += 4 * kLanes) {
          load(v, x + i);
          Op::fold(a, v);
          load(v, x + i + kLanes);
          Op::fold(b, v);
          load(v, x + i + 2 * kLanes);
          Op::fold(c, v);
          load(v, x + i + 3 * kLanes);
          Op::fold(d, v);
        }
        Op::fold(a, b);
        Op::fold(c, d);
        Op::fold(a, c);
      }
      for (; i + kLanes <= n; i += kLanes) {
        load(v, x + i);
        Op::fold(a, v);
      }
      A lanes[kLanes];
      std::memcpy(lanes, &a, sizeof lanes);
      for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int l = 0; l < width; ++l) lanes[l] = Op::call(lanes[l], lanes[l + width]);
      }
      result = lanes[0];
    }
    for (; i < n; ++i) result = Op::call(result, static_cast<A>(x[i]));
    return result;
  }

  static SPRUCE_INLINE void columns(const X* x, A* y, int64_t n, int64_t step, int64_t count) {
    int64_t k = 0;
    if (n < 4) {
      for (int64_t j = 0; j < count; ++j) y[j] = Op::template identity<A>();
    } else {
      const X *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) {
        y[j] = Op::call(Op::call(static_cast<A>(x[j]), static_cast<A>(x1[j])), Op::call(static_cast<A>(x2[j]), static_cast<A>(x3[j])));
      }
      for (k = 4; k + 4 <= n; k += 4) {
        const X *r = x + k * step, *r1 = r + step, *r2 = r1 + step, *r3 = r2 + step;
#pragma GCC ivdep
        for (int64_t j = 0; j < count; ++j) {
          y[j] = Op::call(y[j], Op::call(Op::call(static_cast<A>(r[j]), static_cast<A>(r1[j])),
                                         Op::call(static_cast<A>(r2[j]), static_cast<A>(r3[j]))));
        }
      }
    }
    for (; k < n; ++k) {
      const X* r = x + k * step;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) y[j] = Op::call(y[j], static_cast<A>(r[j]));
    }
  }

  // Short rows that follow each other: several of them are one row for the vectors.
  static SPRUCE_INLINE void narrow_columns(const X* x, A* y, int64_t n, int64_t width) {
    const int64_t together = 64 / width;
    if (n < 8 * together) return columns(x, y, n, width, width);
    A wide[64];
    columns(x, wide, n / together, width * together, width * together);
    columns_of_accumulators(wide, y, together, width);
    for (int64_t k = n - n % together; k < n; ++k) {
      for (int64_t j = 0; j < width; ++j) y[j] = Op::call(y[j], static_cast<A>(x[k * width + j]));
    }
  }
  static SPRUCE_INLINE void columns_of_accumulators(const A* x, A* y, int64_t n, int64_t width) {
    for (int64_t j = 0; j < width; ++j) {
      A result = x[j];
      for (int64_t k = 1; k < n; ++k) result = Op::call(result, x[k * width + j]);
      y[j] = result;
    }
  }

  static SPRUCE_INLINE void body(const void* from, void* to, int64_t outer, int64_t n, int64_t step, int64_t count) {
    const X* x = static_cast<const X*>(from);
    A* y = static_cast<A*>(to);
    for (int64_t o = 0; o < outer; ++o, x += n * step, y += step) {
      if (step == 1) *y = dense(x, n);
      else if (step <= 16 && count == step) narrow_columns(x, y, n, step);
      else columns(x, y, n, step, count);
    }
  }

  static void base(const void* x, void* y, int64_t outer, int64_t n, int64_t step, int64_t count) { body(x, y, outer, n, step, count); }
  SPRUCE_TARGET_V3 static void v3(const void* x, void* y, int64_t outer, int64_t n, int64_t step, int64_t count) {
    body(x, y, outer, n, step, count);
  }
  SPRUCE_TARGET_V4 static void v4(const void* x, void* y, int64_t outer, int64_t n, int64_t step, int64_t count) {
    body(x, y, outer, n, step, count);
  }
  // The 8-byte and 4-byte floats are what programs wait for: the others have no loop of their own for AVX-512.
  static ReduceLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0) return &base;
    else if constexpr (std::is_floating_point_v<X>) return pick<ReduceLoop>(&base, &v3, &v4);
    else return pick<ReduceLoop>(&base, &v3, &v3);
  }
};

// The elements as they are reduced: bool as bytes; where kUnsigned, signed integers as unsigned ones, which wrap.
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

/// The kernel of a reduction whose params are ReduceParams. Op::kUnsigned: signed integers are reduced as unsigned ones;
/// Op::accepts<T>(): the dtypes that the shape rule lets through.
template <class Op>
void reduce_kernel(const KernelArgs& args) {
  const View &x = args.in[0], &y = args.out[0];
  const Axes& axes = args.params.get<ReduceParams>().axes;
  visit_dtype(x.dtype(), [&]<class T>(T) {
    if constexpr (Op::template accepts<T>()) {
      if constexpr (internal::kIsHalf<T>) {
        static const ReduceLoops loops{internal::Reduce<Op, T, float>::best(), internal::Reduce<Op, float, float>::best(), sizeof(float)};
        std::unique_ptr<float[]> wide(new float[static_cast<size_t>(y.numel()) + 1]);
        run_reduce(x, axes, wide.get(), loops);
        round_to_half(wide.get(), y);
      } else {
        using X = typename internal::ReduceElement<T, Op::kUnsigned>::type;
        static const ReduceLoop loop = internal::Reduce<Op, X, X>::best();
        run_reduce(x, axes, y.data, {loop, loop, sizeof(X)});
      }
    }
  });
}

}  // namespace spruce::cpu
