// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"

namespace spruce::cpu::math {

/// pi/2 as the sum of two floats; pi is twice that.
inline constexpr float kHalfPiHigh = 0x1.921fb6p0f;
inline constexpr float kHalfPiLow = -0x1.777a5cp-25f;

/// asin of the root r of z, for z <= 1/4.
template <class I>
SPRUCE_INLINE float asin_small(float r, float z) {
  return I::fma(r * z, horner<I, kAsin>(z), r);
}

/// atan(x) for 0 <= x <= 1.
template <class I>
SPRUCE_INLINE float atan_small(float x) {
  const float z = x * x;
  return I::fma(x * z, horner<I, kAtan>(z), x);
}

template <class I>
SPRUCE_INLINE float asin(float x) {
  const float a = abs(x);
  // Above 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
  const bool outer = a > 0.5f;
  const float z = outer ? 0.5f - 0.5f * a : a * a;
  const float r = outer ? __builtin_sqrtf(z) : a;
  const float p = asin_small<I>(r, z);
  const float y = outer ? kHalfPiHigh - (2.0f * p - kHalfPiLow) : p;
  return copysign(y, x);
}

template <class I>
SPRUCE_INLINE double asin(double x) {
  return std::asin(x);
}

template <class I>
SPRUCE_INLINE float acos(float x) {
  const float a = abs(x);
  const bool outer = a > 0.5f;
  const float z = outer ? 0.5f - 0.5f * a : a * a;
  const float r = outer ? __builtin_sqrtf(z) : x;
  const float p = asin_small<I>(r, z);
  const float middle = kHalfPiHigh - (p - kHalfPiLow);
  const float left = 2.0f * (kHalfPiHigh - (p - kHalfPiLow));
  const float right = 2.0f * p;
  const float y = outer ? (x < 0 ? left : right) : middle;
  return y;
}

template <class I>
SPRUCE_INLINE double acos(double x) {
  return std::acos(x);
}

template <class I>
SPRUCE_INLINE float atan(float x) {
  const float a = abs(x);
  const bool outer = a > 1.0f;
  const float p = atan_small<I>(outer ? 1.0f / a : a);
  return copysign(outer ? kHalfPiHigh - (p - kHalfPiLow) : p, x);
}

template <class I>
SPRUCE_INLINE double atan(double x) {
  return std::atan(x);
}

/// The angle of the point (x, y), as C's atan2(y, x).
template <class I>
SPRUCE_INLINE float atan2(float y, float x) {
  const float ax = abs(x);
  const float ay = abs(y);
  const bool steep = ay > ax;
  const bool left = (to_bits(x) & 0x80000000u) != 0;
  const float large = steep ? ay : ax;
  const float small = steep ? ax : ay;
  float ratio = small / large;
  ratio = small == large ? 1.0f : ratio;
  ratio = large == 0 ? 0.0f : ratio;
  const float p = atan_small<I>(ratio);
  const float turned = steep != left ? -p : p;
  const float halves = steep ? 1.0f : (left ? 2.0f : 0.0f);
  const float angle = halves * kHalfPiHigh + (halves * kHalfPiLow + turned);
  return x != x || y != y ? kNan : copysign(angle, y);
}

template <class I>
SPRUCE_INLINE double atan2(double y, double x) {
  return std::atan2(y, x);
}

}  // namespace spruce::cpu::math
