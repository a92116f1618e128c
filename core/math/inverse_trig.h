// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/power.h"
#include "spruce/core/math/trig.h"

namespace spruce::math {

/// pi/2 as the sum of two numbers; pi is twice that.
template <Floating T>
inline constexpr Element<T> kHalfPiHigh = pick<T>(0x1.921fb6p0f, 0x1.921fb54442d18p0);
template <Floating T>
inline constexpr Element<T> kHalfPiLow = pick<T>(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);

/// asin of the root r of z, for z <= 1/4.
template <class I, Floating T>
SPRUCE_INLINE T asin_small(T r, T z) {
  return I::fma(r * z, horner_of<I, kAsin, kAsinDouble>(z), r);
}

/// atan(x) for 0 <= x <= 1.
template <class I, Floating T>
SPRUCE_INLINE T atan_small(T x) {
  const T z = x * x;
  return I::fma(x * z, horner_of<I, kAtan, kAtanDouble>(z), x);
}

template <class I, Floating T>
SPRUCE_INLINE T asin(T x) {
  const T a = abs(x);
  // Above 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
  const auto outer = a > T(0.5);
  const T z = select(outer, T(0.5) - T(0.5) * a, a * a);
  const T p = asin_small<I, T>(select(outer, sqrt<I>(z), a), z);
  return copysign(select(outer, kHalfPiHigh<T> - (T(2) * p - kHalfPiLow<T>), p), x);
}

template <class I, Floating T>
SPRUCE_INLINE T acos(T x) {
  const T a = abs(x);
  const auto outer = a > T(0.5);
  const T z = select(outer, T(0.5) - T(0.5) * a, a * a);
  const T p = asin_small<I, T>(select(outer, sqrt<I>(z), x), z);
  const T middle = kHalfPiHigh<T> - (p - kHalfPiLow<T>);
  return select(outer, select(x < T(0), T(2) * middle, T(2) * p), middle);
}

template <class I, Floating T>
SPRUCE_INLINE T atan(T x) {
  const T a = abs(x);
  const auto outer = a > T(1);
  const T p = atan_small<I, T>(select(outer, T(1) / a, a));
  return copysign(select(outer, kHalfPiHigh<T> - (p - kHalfPiLow<T>), p), x);
}

/// The angle of the point (x, y), as C's atan2(y, x).
template <class I, Floating T>
SPRUCE_INLINE T atan2(T y, T x) {
  const T ax = abs(x);
  const T ay = abs(y);
  const auto steep = ay > ax;
  const auto left = sign_bit_of(x) != Bits<T>(0u);
  const T large = select(steep, ay, ax);
  const T small = select(steep, ax, ay);
  T ratio = small / large;
  ratio = select(small == large, T(1), ratio);
  ratio = select(large == T(0), T(0), ratio);
  const T p = atan_small<I>(ratio);
  const T rest = select(steep != left, -p, p);
  const T quadrants = select(steep, T(1), select(left, T(2), T(0)));
  const T angle = quadrants * kHalfPiHigh<T> + (quadrants * kHalfPiLow<T> + rest);
  return select(x != x || y != y, T(kNan<T>), copysign(angle, y));
}

}  // namespace spruce::math
