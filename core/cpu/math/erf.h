// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/exp.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/log.h"

namespace spruce::cpu::math {

/// erf(x) for |x| <= 1.
template <class I>
SPRUCE_INLINE float erf_small(float x) {
  return I::fma(x, horner<I, kErf>(x * x), x);
}

template <class I>
SPRUCE_INLINE float erf(float x) {
  // erf(a) = 1 - e^(log erfc(a)); it is 1 from 3.92 on.
  const float a = clamp(abs(x), 1.0f, 4.0f);
  const auto [r, n] = reduce_ln2<I>(-I::fma(a, horner<I, kErfTail>(a), a));
  const float outer = 1.0f - (expm1_small<I>(r) + 1.0f) * power_of_two(n);
  return abs(x) < 1.0f ? erf_small<I>(x) : copysign(outer, x);
}

template <class I>
SPRUCE_INLINE double erf(double x) {
  return std::erf(x);
}

template <class I>
SPRUCE_INLINE float erfc(float x) {
  const float a = clamp(abs(x), 0.0f, 10.5f);
  const float square = a * a;
  const auto [r, n] = reduce_ln2<I>(-square);
  const float u = expm1_small<I>(r);
  // t = 2 / (2 + a): what its roundings lose is given back to q and, with e^-a^2, to the product.
  const float d = 2.0f + a;
  const float d_error = a < 2.0f ? a - (d - 2.0f) : 2.0f - (d - a);
  const float t = 2.0f / d;
  const float td = t * d;
  const float t_error = 0.5f * ((2.0f - td) - I::fma(t, d_error, product_error<I>(t, d, td)));
  const float q = I::fma(-2.0f * t, t_error, I::fma(t, -2.0f, 1.0f));
  const float error = t_error - product_error<I>(a, a, square);
  const float series = horner<I, kErfcx>(q) * t;
  const float y = scale(I::fma(series, I::fma(u, error, u + error), series), n);
  const float outer = x < 0 ? 2.0f - y : y;
  return abs(x) < 0.47f ? 1.0f - erf_small<I>(x) : outer;
}

template <class I>
SPRUCE_INLINE double erfc(double x) {
  return std::erfc(x);
}

/// The inverse of erf by the single precision approximation of M. Giles, "Approximating the
/// erfinv function" (GPU Computing Gems, 2012).
template <class I>
SPRUCE_INLINE float erf_inv(float x) {
  const float w = -log<I>((1.0f - x) * (1.0f + x));
  const bool central = w < 5.0f;
  const float t = central ? w - 2.5f : __builtin_sqrtf(w) - 3.0f;
  const float p = central ? horner<I, kErfInvCentral>(t) : horner<I, kErfInvTail>(t);
  return abs(x) == 1.0f ? x * kInf : p * x;
}

/// Giles' form with three ranges, fitted for double.
template <class I>
SPRUCE_INLINE double erf_inv(double x) {
  const double w = -log<I>((1.0 - x) * (1.0 + x));
  const double root = __builtin_sqrt(w);
  const double middle = 3.09375 + horner<I, kErfInvDoubleMiddle>(root - 3.25);
  const double tail = 4.84375 + horner<I, kErfInvDoubleTail>(root - 5.0);
  const double central = 1.65625 + horner<I, kErfInvDoubleCentral>(w - 3.125);
  const double p = w < 6.25 ? central : (w < 16.0 ? middle : tail);
  return abs(x) == 1.0 ? x * HUGE_VAL : p * x;
}

}  // namespace spruce::cpu::math
