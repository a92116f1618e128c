// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"
#include "spruce/core/math/power.h"

namespace spruce::math {

/// erf(x) for |x| <= 1.
template <class I, Floating T>
SPRUCE_INLINE T erf_small(T x) {
  return I::fma(x, horner_of<I, kErf, kErfDouble, T>(x * x), x);
}

template <class I, Floating T>
SPRUCE_INLINE T erf(T x) {
  // erf(a) = 1 - e^(log erfc(a)); it is 1 from 3.92 on, in f64 from 5.93 on.
  const T magnitude = abs(x), a = clamp(magnitude, T(1), pick<T>(4, 6));
  const auto [r, n] = reduce_ln2<I, T>(-I::fma(a, horner_of<I, kErfTail, kErfTailDouble>(a), a));
  const T outer = T(1) - (expm1_small<I>(r) + T(1)) * power_of_two(n);
  return select(magnitude < T(1), erf_small<I>(x), copysign(outer, x));
}

template <class I, Floating T>
SPRUCE_INLINE T erfc(T x) {
  const T magnitude = abs(x), a = clamp(magnitude, T(0), pick<T>(10.5f, 27.5));
  const T square = a * a;
  const auto [r, n] = reduce_ln2<I, T>(-square);
  const T u = expm1_small<I>(r);
  // t = 2 / (2 + a): what its roundings lose is given back to q and, with e^-a^2, to the product.
  const T d = T(2) + a;
  const T d_error = select(a < T(2), a - (d - T(2)), T(2) - (d - a));
  const T t = T(2) / d;
  const T td = t * d;
  const T t_error = T(0.5) * ((T(2) - td) - I::fma(t, d_error, product_error<I>(t, d, td)));
  const T q = I::fma(T(T(-2) * t), t_error, I::fma(t, T(-2), T(1)));
  const T error = t_error - product_error<I>(a, a, square);
  const T series = horner_of<I, kErfcx, kErfcxDouble>(q) * t;
  const T y = scale(I::fma(series, I::fma(u, error, u + error), series), n);
  const T outer = select(x < T(0), T(2) - y, y);
  return select(magnitude < pick<T>(0.47f, 0.47), T(1) - erf_small<I>(x), outer);
}

/// The inverse of erf by the single precision approximation of M. Giles, "Approximating the
/// erfinv function" (GPU Computing Gems, 2012); of f64 his form with three ranges, fitted for it.
template <class I, Floating T>
SPRUCE_INLINE T erf_inv(T x) {
  const T w = -log<I, T>((T(1) - x) * (T(1) + x));
  const T root = sqrt<I>(w);
  T p = x;
  if constexpr (Float32<T>) {
    const auto central = w < 5.0f;
    const T t = select(central, w - 2.5f, root - 3.0f);
    p = select(central, horner<I, kErfInvCentral>(t), horner<I, kErfInvTail>(t));
  } else {
    const T middle = 3.09375 + horner<I, kErfInvDoubleMiddle, 0, T>(root - 3.25);
    const T tail = 4.84375 + horner<I, kErfInvDoubleTail, 0, T>(root - 5.0);
    const T center = 1.65625 + horner<I, kErfInvDoubleCentral, 0, T>(w - 3.125);
    p = select(w < 6.25, center, select(w < 16.0, middle, tail));
  }
  return select(abs(x) == T(1), x * kInfinity<T>, p * x);
}

}  // namespace spruce::math
