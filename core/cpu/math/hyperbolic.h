// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/exp.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/log.h"

namespace spruce::cpu::math {

/// e^a / 2 for a >= 0; overflows where cosh does.
template <class I>
SPRUCE_INLINE float half_exp(float a) {
  const auto [r, n] = reduce_ln2<I>(clamp(a, 0.0f, 91.0f));
  return scale(expm1_small<I>(r) + 1.0f, n - 1);
}

template <class I>
SPRUCE_INLINE double half_exp(double a) {
  const auto [r, n] = reduce_ln2<I>(clamp(a, 0.0, 712.0));
  return scale(expm1_small<I>(r) + 1.0, n - 1);
}

template <class I>
SPRUCE_INLINE float sinh(float x) {
  const float a = abs(x);
  const float z = a * a;
  const float inner = I::fma(a * z, horner<I, kSinh>(z), a);
  const float h = half_exp<I>(a);
  return copysign(a < 1.0f ? inner : h - 0.25f / h, x);
}

template <class I>
SPRUCE_INLINE double sinh(double x) {
  const double a = abs(x);
  const double e = expm1<I>(a < 1.0 ? a : 1.0);
  const double h = half_exp<I>(a);
  return copysign(a < 1.0 ? 0.5 * (e + e / (e + 1.0)) : h - 0.25 / h, x);
}

template <class I, class T>
SPRUCE_INLINE T cosh(T x) {
  const T h = half_exp<I>(abs(x));
  return h + T(0.25) / h;
}

template <class I>
SPRUCE_INLINE float tanh(float x) {
  // t / (t + 2) with t = e^(2 |x|) - 1; it is 1 from 9.02 on.
  const auto [r, n] = reduce_ln2<I>(clamp(2.0f * abs(x), 0.0f, 20.0f));
  const float s = power_of_two(n);
  const float t = I::fma(s, expm1_small<I>(r), s - 1.0f);
  const float y = copysign(t / (t + 2.0f), x);
  return abs(x) < 0x1p-13f ? x : y;
}

template <class I>
SPRUCE_INLINE double tanh(double x) {
  // It is 1 from 19.07 on.
  const auto [r, n] = reduce_ln2<I>(clamp(2.0 * abs(x), 0.0, 40.0));
  const double s = power_of_two(n);
  const double t = I::fma(s, expm1_small<I>(r), s - 1.0);
  const double y = copysign(t / (t + 2.0), x);
  return abs(x) < 0x1p-28 ? x : y;
}

template <class I>
SPRUCE_INLINE float asinh(float x) {
  const float a = abs(x);
  const bool large = a >= 0x1p30f;
  const float square = a * a;
  const float t = a + square / (1.0f + __builtin_sqrtf(square + 1.0f));
  const float y = log1p_finite<I>(large ? a : t, large ? 1 : 0);
  return a < kInf ? copysign(y, x) : x;
}

template <class I>
SPRUCE_INLINE double asinh(double x) {
  return std::asinh(x);
}

template <class I>
SPRUCE_INLINE float acosh(float x) {
  const bool large = x >= 0x1p30f;
  const float t = x - 1.0f;
  const float y = log1p_finite<I>(large ? x : t + __builtin_sqrtf(t * (x + 1.0f)), large ? 1 : 0);
  return x < 1.0f ? kNan : (x < kInf ? y : x);
}

template <class I>
SPRUCE_INLINE double acosh(double x) {
  return std::acosh(x);
}

template <class I>
SPRUCE_INLINE float atanh(float x) {
  const float a = abs(x);
  float y = 0.5f * log1p_finite<I>(2.0f * a / (1.0f - a));
  y = a < 1.0f ? y : kNan;
  y = a == 1.0f ? kInf : y;
  return copysign(y, x);
}

template <class I>
SPRUCE_INLINE double atanh(double x) {
  return std::atanh(x);
}

}  // namespace spruce::cpu::math
