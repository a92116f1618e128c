// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/power.h"

namespace spruce::math {

/// pi/2 as the sum of two floats; pi is twice that.
inline constexpr float kHalfPiHigh = 0x1.921fb6p0f;
inline constexpr float kHalfPiLow = -0x1.777a5cp-25f;

/// asin of the root r of z, for z <= 1/4.
template <class I, Float32 T>
SPRUCE_INLINE T asin_small(T r, T z) {
  return I::fma(r * z, horner<I, kAsin>(z), r);
}

/// atan(x) for 0 <= x <= 1.
template <class I, Float32 T>
SPRUCE_INLINE T atan_small(T x) {
  const T z = x * x;
  return I::fma(x * z, horner<I, kAtan>(z), x);
}

template <class I, Floating T>
SPRUCE_INLINE T asin(T x) {
  if constexpr (Float64<T>) {
    return library<Function::kAsin>(x);
  } else {
    const T a = abs(x);
    // Above 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
    const auto outer = a > 0.5f;
    const T z = select(outer, 0.5f - 0.5f * a, a * a);
    const T p = asin_small<I, T>(select(outer, sqrt<I>(z), a), z);
    return copysign(select(outer, kHalfPiHigh - (2.0f * p - kHalfPiLow), p), x);
  }
}

template <class I, Floating T>
SPRUCE_INLINE T acos(T x) {
  if constexpr (Float64<T>) {
    return library<Function::kAcos>(x);
  } else {
    const T a = abs(x);
    const auto outer = a > 0.5f;
    const T z = select(outer, 0.5f - 0.5f * a, a * a);
    const T p = asin_small<I, T>(select(outer, sqrt<I>(z), x), z);
    const T middle = kHalfPiHigh - (p - kHalfPiLow);
    return select(outer, select(x < T(0), 2.0f * middle, 2.0f * p), middle);
  }
}

template <class I, Floating T>
SPRUCE_INLINE T atan(T x) {
  if constexpr (Float64<T>) {
    return library<Function::kAtan>(x);
  } else {
    const T a = abs(x);
    const auto outer = a > 1.0f;
    const T p = atan_small<I, T>(select(outer, 1.0f / a, a));
    return copysign(select(outer, kHalfPiHigh - (p - kHalfPiLow), p), x);
  }
}

/// The angle of the point (x, y), as C's atan2(y, x).
template <class I, Floating T>
SPRUCE_INLINE T atan2(T y, T x) {
  if constexpr (Float64<T>) {
    return library<Function::kAtan2>(y, x);
  } else {
    const T ax = abs(x);
    const T ay = abs(y);
    const auto steep = ay > ax;
    const auto left = (to_bits(x) & 0x80000000u) != 0u;
    const T large = select(steep, ay, ax);
    const T small = select(steep, ax, ay);
    T ratio = small / large;
    ratio = select(small == large, T(1), ratio);
    ratio = select(large == T(0), T(0), ratio);
    const T p = atan_small<I>(ratio);
    const T turned = select(steep != left, -p, p);
    const T halves = select(steep, T(1), select(left, T(2), 0.0f));
    const T angle = halves * kHalfPiHigh + (halves * kHalfPiLow + turned);
    return select(x != x || y != y, T(kNan), copysign(angle, y));
  }
}

}  // namespace spruce::math
