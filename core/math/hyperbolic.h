// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"
#include "spruce/core/math/power.h"

namespace spruce::math {

/// e^a / 2 for a >= 0; overflows where cosh does.
template <class I, Floating T>
SPRUCE_INLINE T half_exp(T a) {
  const auto [r, n] = reduce_ln2<I>(clamp(a, T(0), pick<T>(91, 712)));
  return scale<T>(expm1_small<I>(r) + T(1), n - T(1));
}

template <class I, Floating T>
SPRUCE_INLINE T sinh(T x) {
  const T a = abs(x);
  const T h = half_exp<I>(a);
  if constexpr (Float32<T>) {
    const T z = a * a;
    const T inner = I::fma(a * z, horner<I, kSinh>(z), a);
    return copysign(select(a < 1.0f, inner, h - 0.25f / h), x);
  } else {
    const T e = expm1<I>(select(a < 1.0, a, T(1.0)));
    return copysign(select(a < 1.0, 0.5 * (e + e / (e + 1.0)), h - 0.25 / h), x);
  }
}

template <class I, Floating T>
SPRUCE_INLINE T cosh(T x) {
  const T h = half_exp<I>(abs(x));
  return h + T(0.25) / h;
}

template <class I, Floating T>
SPRUCE_INLINE T tanh(T x) {
  // t / (t + 2) with t = e^(2 |x|) - 1; it is 1 from 9.02 on, in f64 from 19.07 on.
  const T a = abs(x);
  const auto [r, n] = reduce_ln2<I>(clamp(T(2) * a, T(0), pick<T>(20, 40)));
  const T s = power_of_two(n);
  const T t = I::fma(s, expm1_small<I>(r), s - T(1));
  const T y = copysign(t / (t + T(2)), x);
  return select(a < pick<T>(0x1p-13f, 0x1p-28), x, y);
}

/// log(1 + t), or log(2 x) where x is so large that this is asinh(x) and acosh(x).
template <class I, Floating T>
SPRUCE_INLINE T inverse_logarithm(T x, T t) {
  using K = Element<SignedBits<T>>;
  const auto large = x >= pick<T>(0x1p30f, 0x1p60);
  return log1p_finite<I, T>(select(large, x, t), select(large, SignedBits<T>(K{1}), K{0}));
}

template <class I, Floating T>
SPRUCE_INLINE T asinh(T x) {
  const T a = abs(x);
  const T square = a * a;
  const T t = a + square / (T(1) + sqrt<I>(square + T(1)));
  return select(a < kInfinity<T>, copysign(inverse_logarithm<I, T>(a, t), x), x);
}

template <class I, Floating T>
SPRUCE_INLINE T acosh(T x) {
  const T t = x - T(1);
  const T y = inverse_logarithm<I, T>(x, t + sqrt<I>(t * (x + T(1))));
  return select(x < T(1), T(kNan<T>), select(x < kInfinity<T>, y, x));
}

template <class I, Floating T>
SPRUCE_INLINE T atanh(T x) {
  const T a = abs(x);
  T y = T(0.5) * log1p_finite<I, T>(T(2) * a / (T(1) - a));
  y = select(a < T(1), y, T(kNan<T>));
  y = select(a == T(1), T(kInfinity<T>), y);
  return copysign(y, x);
}

}  // namespace spruce::math
