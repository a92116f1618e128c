// SPDX-License-Identifier: Apache-2.0
// One pass over an array of a floating dtype with a function that has parameters, compiled for each
// instruction set.
#pragma once

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/parallel.h"

namespace spruce::cpu {

/// The loop y[i] = f.call<I>(x[i]), computed in C.
template <class T, class C, class F>
struct SingleLoop {
  using Loop = void (*)(const T*, T*, int64_t, const F&);
  template <class I>
  static SPRUCE_INLINE void body(const T* x, T* y, int64_t n, const F& f) {
    const F local = f;  // where stores to y cannot reach
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
      y[i] = static_cast<T>(local.template call<I>(static_cast<C>(x[i])));
  }
  static void base(const T* x, T* y, int64_t n, const F& f) { body<internal::BaseIsa>(x, y, n, f); }
  SPRUCE_TARGET_V3 static void v3(const T* x, T* y, int64_t n, const F& f) {
    body<internal::FmaIsa>(x, y, n, f);
  }
  SPRUCE_TARGET_V4 static void v4(const T* x, T* y, int64_t n, const F& f) {
    body<internal::FmaIsa>(x, y, n, f);
  }
};

/// Runs the only input of a kernel through make(C{}), an object with
///   template <class I> SPRUCE_INLINE C call(C x) const;
/// where C is f32 for the halves, else the dtype itself.
template <class Make>
void run_single(const KernelArgs& args, const Make& make) {
  visit_dtype(args.out[0].dtype(), [&]<class T>(T) {
    if constexpr (internal::kAccepts<Types::kFloating, T>) {
      using C = internal::Compute<T>;
      const auto f = make(C{});
      using L = SingleLoop<T, C, std::remove_const_t<decltype(f)>>;
      static const typename L::Loop loop = pick<typename L::Loop>(&L::base, &L::v3, &L::v4);
      const T* x = args.in[0].as<T>();
      T* y = args.out[0].as<T>();
      parallel_for(args.out[0].numel(), 32768,
                   [&](int64_t begin, int64_t end) { loop(x + begin, y + begin, end - begin, f); });
    }
  });
}

}  // namespace spruce::cpu
