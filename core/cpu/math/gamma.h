// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/log.h"

namespace spruce::cpu::math {

inline constexpr double kPi = 0x1.921fb54442d18p1;

/// x less its nearest integer, with the sign of x where that is 0.
SPRUCE_INLINE double signed_fraction(double x) {
  const double a = abs(x) < 0x1p52 ? abs(x) : 0.0;
  return copysign(1.0, x) * (a - ((a + 0x1p52) - 0x1p52));
}

/// log |Gamma(x)|, in double: near its zeros on the negative axis the terms cancel.
template <class I>
SPRUCE_INLINE float lgamma(float single) {
  const double x = single;
  const double a = abs(x);
  // Stirling's series at z >= 4; Gamma(a) = Gamma(a + 4) / product below.
  const bool low = a < 4.0;
  const double z = low ? a + 4.0 : a;
  const double product = low ? a * (a + 1.0) * ((a + 2.0) * (a + 3.0)) : 1.0;
  const double inverse = 1.0 / z;
  const double series = horner<I, kLgamma>(inverse * inverse) * inverse;
  const double stirling = I::fma(z - 0.5, log<I>(z), 0x1.d67f1c864beb5p-1 + series - z);
  // Gamma(-a) = -pi / (a sin(pi a) Gamma(a)).
  const double r = signed_fraction(a);
  const double sine = abs(r * horner<I, kSinPi>(r * r));
  const bool reflect = x < 0;
  const double rest = log<I>(reflect ? kPi * product / (a * sine) : product);
  const double y = reflect ? rest - stirling : stirling - rest;
  const double finite = x == 1.0 || x == 2.0 ? 0.0 : y;
  return static_cast<float>(a < HUGE_VAL ? finite : a);
}

template <class I>
SPRUCE_INLINE double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// The derivative of lgamma; NaN at the negative integers, -inf at +0 and +inf at -0.
template <class I>
SPRUCE_INLINE double digamma(double x) {
  // psi(x) = psi(1 - x) - pi cot(pi x).
  const bool reflect = x < 0.5;
  const double a = reflect ? 1.0 - x : x;
  const double inverse = 1.0 / a;
  const double square = inverse * inverse;
  const double far = log<I>(a) - I::fma(horner<I, kDigamma>(square), square, 0.5 * inverse);
  // Below 3 from [1, 2], by psi(b + 1) = psi(b) + 1/b; there from the distance to psi's zero,
  // which is the sum of these two numbers.
  const double b = a < 1.0 ? a + 1.0 : (a > 2.0 ? a - 1.0 : a);
  const double distance = (b - 0x1.762d86356be3fp0) - 0x1.b86a722197829p-54;
  const double by_zero = distance * horner<I, kDigammaRoot>(distance);
  const double step = a < 1.0 ? -inverse : (a > 2.0 ? 1.0 / b : 0.0);
  const double right = a < 3.0 ? by_zero + step : far;

  const double r = signed_fraction(x);
  const double cosine = (1.0 - 4.0 * r * r) * horner<I, kCosPi>(r * r);
  const double cotangent = kPi * cosine / (r * horner<I, kSinPi>(r * r));
  const double y = reflect ? right - cotangent : right;
  return x < 0 && r == 0 ? std::numeric_limits<double>::quiet_NaN() : y;
}

template <class I>
SPRUCE_INLINE float digamma(float x) {
  return static_cast<float>(digamma<I>(static_cast<double>(x)));
}

}  // namespace spruce::cpu::math
