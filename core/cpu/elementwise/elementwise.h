// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels from one scalar function: an operation is a struct with
//   template <class I, class T> static SPRUCE_INLINE T call(T x)            (or of two values)
// that is compiled into loops per dtype and instruction set. f16 and bf16 are computed in float.
#pragma once

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/targets.h"
#include "spruce/core/primitive.h"
#include "spruce/core/scalar/types.h"

namespace spruce::cpu {

/// Runs a loop over all elements, split over threads, with broadcasting of the inputs to the
/// output's shape.
void run_unary(const KernelArgs& args, UnaryLoop loop);
/// The same for two inputs.
void run_binary(const KernelArgs& args, BinaryLoop loop);
/// The same for three inputs.
void run_ternary(const KernelArgs& args, TernaryLoop loop);

namespace internal {

/// The loop of an operation on f16 or bf16: `f` is its loop on floats. A result Y of the type X is
/// rounded; any other is what `f` writes. Defined for Y = X and bool.
template <class X, class Y>
void half_unary(const X* x, Y* y, int64_t n, UnaryLoop f);
template <class X, class Y>
void half_binary(const X* a, const X* b, Y* y, int64_t n, int64_t a_step, int64_t b_step,
                 BinaryLoop f);

using BaseIsa = math::Isa<false>;
using FmaIsa = math::Isa<true>;

/// What the scalar function computes in.
template <class T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

/// An operation that is cheaper where near<I>(x): there call_near<I>(x) is call<I>(x), bit for bit.
template <class Op, class I, class T>
concept HasNear = requires(T x) {
  Op::template call_near<I>(x);
};

// In place x and y are the same: a loop reads an element before it writes it, and
// SPRUCE_INDEPENDENT tells the compiler so.
template <class Op, class I, class X, class Y>
SPRUCE_INLINE void unary_body(const X* x, Y* y, int64_t n) {
  if constexpr (HasNear<Op, I, X>) {
    constexpr int64_t kBlock = 512;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t end = n - begin < kBlock ? n : begin + kBlock;
      int32_t far = 0;
      for (int64_t i = begin; i < end; ++i) far |= Op::template near<I>(x[i]) ? 0 : 1;
      if (far == 0) {
        SPRUCE_INDEPENDENT
        for (int64_t i = begin; i < end; ++i)
          y[i] = static_cast<Y>(Op::template call_near<I>(x[i]));
      } else {
        SPRUCE_INDEPENDENT
        for (int64_t i = begin; i < end; ++i) y[i] = static_cast<Y>(Op::template call<I>(x[i]));
      }
    }
  } else {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(Op::template call<I>(x[i]));
  }
}

/// An operand of a loop, block by block: an array, or a block of copies of one element, so that one
/// loop serves both.
template <class T>
class Operand {
 public:
  static constexpr int64_t kBlock = 256;

  SPRUCE_INLINE Operand(const T* x, int64_t step, int64_t n) : x_(x), array_(step != 0) {
    if (array_) return;
    const T value = *x;
    const int64_t count = n < kBlock ? n : kBlock;
    for (int64_t i = 0; i < count; ++i) copies_[i] = value;
  }
  /// The elements from `i` on, which a block begins with.
  SPRUCE_INLINE const T* from(int64_t i) const { return array_ ? x_ + i : copies_; }

 private:
  const T* x_;
  bool array_;
  T copies_[kBlock];
};

template <class Op, class I, class X, class Y>
SPRUCE_INLINE void binary_body(const X* a, const X* b, Y* y, int64_t n, int64_t a_step,
                               int64_t b_step) {
  const Operand<X> as(a, a_step, n), bs(b, b_step, n);
  for (int64_t begin = 0; begin < n; begin += Operand<X>::kBlock) {
    const int64_t count = n - begin < Operand<X>::kBlock ? n - begin : Operand<X>::kBlock;
    const X *p = as.from(begin), *q = bs.from(begin);
    Y* const to = y + begin;
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Y>(Op::template call<I>(p[i], q[i]));
  }
}

template <class Op, class I, class A, class B, class Y>
SPRUCE_INLINE void ternary_body(const A* a, const B* b, const B* c, Y* y, int64_t n, int64_t a_step,
                                int64_t b_step, int64_t c_step) {
  const Operand<A> as(a, a_step, n);
  const Operand<B> bs(b, b_step, n), cs(c, c_step, n);
  for (int64_t begin = 0; begin < n; begin += Operand<B>::kBlock) {
    const int64_t count = n - begin < Operand<B>::kBlock ? n - begin : Operand<B>::kBlock;
    const A* const p = as.from(begin);
    const B *q = bs.from(begin), *r = cs.from(begin);
    Y* const to = y + begin;
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<Y>(Op::template call<I>(p[i], q[i], r[i]));
  }
}

template <class Op, class X, class Y>
struct Unary {
  SPRUCE_TARGET_BASE static void base(const void* x, void* y, int64_t n) {
    unary_body<Op, BaseIsa>(static_cast<const X*>(x), static_cast<Y*>(y), n);
  }
  SPRUCE_TARGET_V3 static void v3(const void* x, void* y, int64_t n) {
    unary_body<Op, FmaIsa>(static_cast<const X*>(x), static_cast<Y*>(y), n);
  }
  SPRUCE_TARGET_V4 static void v4(const void* x, void* y, int64_t n) {
    unary_body<Op, FmaIsa>(static_cast<const X*>(x), static_cast<Y*>(y), n);
  }
  // Only floats get a loop of their own for AVX-512: the others are rarely what a program waits
  // for.
  static UnaryLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else if constexpr (std::is_floating_point_v<X>)
      return pick<UnaryLoop>(&base, &v3, &v4);
    else
      return pick<UnaryLoop>(&base, &v3, &v3);
  }
};

template <class Op, class X, class Y>
struct Binary {
  SPRUCE_TARGET_BASE static void base(const void* a, const void* b, void* y, int64_t n, int64_t as,
                                      int64_t bs) {
    binary_body<Op, BaseIsa>(static_cast<const X*>(a), static_cast<const X*>(b), static_cast<Y*>(y),
                             n, as, bs);
  }
  SPRUCE_TARGET_V3 static void v3(const void* a, const void* b, void* y, int64_t n, int64_t as,
                                  int64_t bs) {
    binary_body<Op, FmaIsa>(static_cast<const X*>(a), static_cast<const X*>(b), static_cast<Y*>(y),
                            n, as, bs);
  }
  SPRUCE_TARGET_V4 static void v4(const void* a, const void* b, void* y, int64_t n, int64_t as,
                                  int64_t bs) {
    binary_body<Op, FmaIsa>(static_cast<const X*>(a), static_cast<const X*>(b), static_cast<Y*>(y),
                            n, as, bs);
  }
  static BinaryLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else if constexpr (std::is_floating_point_v<X>)
      return pick<BinaryLoop>(&base, &v3, &v4);
    else
      return pick<BinaryLoop>(&base, &v3, &v3);
  }
};

template <class Op, class X, class Y>
requires kIsHalf<X>
struct Unary<Op, X, Y> {
  using Wide = std::conditional_t<kIsHalf<Y>, float, Y>;
  static void loop(const void* x, void* y, int64_t n) {
    static const UnaryLoop f = Unary<Op, float, Wide>::best();
    half_unary(static_cast<const X*>(x), static_cast<Y*>(y), n, f);
  }
  static UnaryLoop best() { return &loop; }
};

template <class Op, class X, class Y>
requires kIsHalf<X>
struct Binary<Op, X, Y> {
  using Wide = std::conditional_t<kIsHalf<Y>, float, Y>;
  static void loop(const void* a, const void* b, void* y, int64_t n, int64_t as, int64_t bs) {
    static const BinaryLoop f = Binary<Op, float, Wide>::best();
    half_binary(static_cast<const X*>(a), static_cast<const X*>(b), static_cast<Y*>(y), n, as, bs,
                f);
  }
  static BinaryLoop best() { return &loop; }
};

/// `Op` is called on the elements as they are stored.
template <class Op, class A, class B, class Y>
struct Ternary {
  SPRUCE_TARGET_BASE static void base(const void* a, const void* b, const void* c, void* y,
                                      int64_t n, int64_t as, int64_t bs, int64_t cs) {
    ternary_body<Op, BaseIsa>(static_cast<const A*>(a), static_cast<const B*>(b),
                              static_cast<const B*>(c), static_cast<Y*>(y), n, as, bs, cs);
  }
  SPRUCE_TARGET_V3 static void v3(const void* a, const void* b, const void* c, void* y, int64_t n,
                                  int64_t as, int64_t bs, int64_t cs) {
    ternary_body<Op, FmaIsa>(static_cast<const A*>(a), static_cast<const B*>(b),
                             static_cast<const B*>(c), static_cast<Y*>(y), n, as, bs, cs);
  }
  static TernaryLoop best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else
      return pick<TernaryLoop>(&base, &v3, &v3);
  }
};

using scalar::kAccepts;

}  // namespace internal

using scalar::Types;

/// The loop of a unary operation whose result has the dtype of the input (or Y, where given); null
/// for a dtype that it does not take.
template <class Op, Types kTypes, class Result = void>
UnaryLoop unary_loop(const LoopArgs& args) {
  UnaryLoop loop = nullptr;
  visit_dtype(args.in, [&]<class T>(T) {
    if constexpr (internal::kAccepts<kTypes, T>) {
      using Y = std::conditional_t<std::is_void_v<Result>, T, Result>;
      static const UnaryLoop best = internal::Unary<Op, T, Y>::best();
      loop = best;
    }
  });
  return loop;
}

/// The loop of a binary operation over two inputs of one dtype.
template <class Op, Types kTypes, class Result = void>
BinaryLoop binary_loop(const LoopArgs& args) {
  BinaryLoop loop = nullptr;
  visit_dtype(args.in, [&]<class T>(T) {
    if constexpr (internal::kAccepts<kTypes, T>) {
      using Y = std::conditional_t<std::is_void_v<Result>, T, Result>;
      static const BinaryLoop best = internal::Binary<Op, T, Y>::best();
      loop = best;
    }
  });
  return loop;
}

/// What a kernel knows when it chooses its loop.
inline LoopArgs loop_args(const KernelArgs& args) {
  return {args.in[0].dtype(), args.out[0].dtype(), args.params};
}

namespace internal {

inline void run(const KernelArgs& args, UnaryLoop loop) { run_unary(args, loop); }
inline void run(const KernelArgs& args, BinaryLoop loop) { run_binary(args, loop); }
inline void run(const KernelArgs& args, TernaryLoop loop) { run_ternary(args, loop); }

template <auto kLoop>
void run_loop(const KernelArgs& args) {
  run(args, kLoop(loop_args(args)));
}

}  // namespace internal

/// kLoop, which gives a loop over one, two or three inputs, as one that gives an ElementLoop.
template <auto kLoop>
ElementLoop element_loop(const LoopArgs& args) {
  return kLoop(args);
}

/// The kernel that runs the loop which kLoop gives for its types.
template <auto kLoop>
inline constexpr CpuKernel loop_kernel{internal::run_loop<kLoop>, element_loop<kLoop>};

/// The kernel of a unary primitive, and of a binary one.
template <class Op, Types kTypes, class Result = void>
inline constexpr CpuKernel unary_kernel = loop_kernel<unary_loop<Op, kTypes, Result>>;
template <class Op, Types kTypes, class Result = void>
inline constexpr CpuKernel binary_kernel = loop_kernel<binary_loop<Op, kTypes, Result>>;

}  // namespace spruce::cpu
