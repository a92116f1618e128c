// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"

namespace spruce::math {

inline constexpr double kPi = 0x1.921fb54442d18p1;

/// x less its nearest integer, with the sign of x where that is 0.
template <Float64 T>
SPRUCE_INLINE T signed_fraction(T x) {
  const T a = select(abs(x) < 0x1p52, abs(x), T(0));
  return copysign(T(1), x) * (a - ((a + 0x1p52) - 0x1p52));
}

/// log |Gamma(x)|, of f32 in f64: near its zeros on the negative axis the terms cancel.
template <class I, Floating T>
SPRUCE_INLINE T lgamma(T argument) {
  if constexpr (Float64<T>) {
    return library<Function::kLgamma>(argument);
  } else {
    using D = Like<T, double>;
    const D x = convert<double>(argument);
    const D a = abs(x);
    // Stirling's series at z >= 4; Gamma(a) = Gamma(a + 4) / product below.
    const auto low = a < 4.0;
    const D z = select(low, a + 4.0, a);
    const D product = select(low, a * (a + 1.0) * ((a + 2.0) * (a + 3.0)), 1.0);
    const D inverse = 1.0 / z;
    const D series = horner<I, kLgamma, 0, D>(inverse * inverse) * inverse;
    const D stirling = I::fma(D(z - 0.5), log<I>(z), 0x1.d67f1c864beb5p-1 + series - z);
    // Gamma(-a) = -pi / (a sin(pi a) Gamma(a)).
    const D r = signed_fraction(a);
    const D sine = abs(D(r * horner<I, kSinPi, 0, D>(r * r)));
    const auto reflect = x < D(0);
    const D rest = log<I, D>(select(reflect, kPi * product / (a * sine), product));
    const D y = select(reflect, rest - stirling, stirling - rest);
    const D finite = select(x == D(1) || x == D(2), D(0), y);
    return convert<float>(D(select(a < HUGE_VAL, finite, a)));
  }
}

/// The derivative of lgamma; NaN at the negative integers, -inf at +0 and +inf at -0.
template <class I, Floating T>
SPRUCE_INLINE T digamma(T x) {
  if constexpr (Float32<T>) {
    return convert<float>(digamma<I>(convert<double>(x)));
  } else {
    // psi(x) = psi(1 - x) - pi cot(pi x).
    const auto reflect = x < 0.5;
    const T a = select(reflect, 1.0 - x, x);
    const T inverse = 1.0 / a;
    const T square = inverse * inverse;
    const T far = log<I>(a) - I::fma(horner<I, kDigamma>(square), square, 0.5 * inverse);
    // Below 3 from [1, 2], by psi(b + 1) = psi(b) + 1/b; there from the distance to psi's zero,
    // which is the sum of these two numbers.
    const T b = select(a < 1.0, a + 1.0, select(a > 2.0, a - 1.0, a));
    const T distance = (b - 0x1.762d86356be3fp0) - 0x1.b86a722197829p-54;
    const T by_zero = distance * horner<I, kDigammaRoot>(distance);
    const T step = select(a < 1.0, -inverse, select(a > 2.0, 1.0 / b, T(0)));
    const T right = select(a < 3.0, by_zero + step, far);

    const T r = signed_fraction(x);
    const T cosine = (1.0 - 4.0 * r * r) * horner<I, kCosPi, 0, T>(r * r);
    const T cotangent = kPi * cosine / (r * horner<I, kSinPi, 0, T>(r * r));
    const T y = select(reflect, right - cotangent, right);
    return select(x < T(0) && r == T(0), T(kNan<T>), y);
  }
}

}  // namespace spruce::math
