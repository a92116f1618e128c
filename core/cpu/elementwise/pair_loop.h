// SPDX-License-Identifier: Apache-2.0
// One pass over two arrays of one shape and floating dtype, compiled for each instruction set.
#pragma once

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {

/// The loop y[i] = f(a[i], b[i]), computed in C.
template <class T, class C, class F>
struct PairLoop {
  using Loop = void (*)(const T*, const T*, T*, int64_t, const F&);
  static SPRUCE_INLINE void body(const T* a, const T* b, T* y, int64_t n, const F& f) {
    const F local = f;  // where stores to y cannot reach
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      y[i] = static_cast<T>(local(static_cast<C>(a[i]), static_cast<C>(b[i])));
  }
  static void base(const T* a, const T* b, T* y, int64_t n, const F& f) { body(a, b, y, n, f); }
  SPRUCE_TARGET_V3 static void v3(const T* a, const T* b, T* y, int64_t n, const F& f) {
    body(a, b, y, n, f);
  }
  SPRUCE_TARGET_V4 static void v4(const T* a, const T* b, T* y, int64_t n, const F& f) {
    body(a, b, y, n, f);
  }
};

/// Runs the first two inputs of a kernel through make(T{}, C{}), a function object of two C: f32
/// for the halves, else T itself. Its operator() is SPRUCE_INLINE.
template <class Make>
void run_pairs(const KernelArgs& args, const Make& make) {
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    if constexpr (internal::kAccepts<Types::kFloating, T>) {
      using C = internal::Compute<T>;
      const auto f = make(T{}, C{});
      using L = PairLoop<T, C, std::remove_const_t<decltype(f)>>;
      static const typename L::Loop loop = pick<typename L::Loop>(&L::base, &L::v3, &L::v4);
      const T *a = args.in[0].as<T>(), *b = args.in[1].as<T>();
      T* y = args.out[0].as<T>();
      parallel_for(args.out[0].numel(), 131072, [&](int64_t begin, int64_t end) {
        loop(a + begin, b + begin, y + begin, end - begin, f);
      });
    }
  });
}

}  // namespace spruce::cpu
