// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/exp.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"
#include "spruce/core/cpu/math/log.h"

namespace spruce::cpu::math {

template <class I>
SPRUCE_INLINE float sqrt(float x) {
  return __builtin_sqrtf(x);
}

template <class I>
SPRUCE_INLINE double sqrt(double x) {
  return __builtin_sqrt(x);
}

template <class I>
SPRUCE_INLINE float rsqrt(float x) {
  return 1.0f / __builtin_sqrtf(x);
}

template <class I>
SPRUCE_INLINE double rsqrt(double x) {
  return 1.0 / __builtin_sqrt(x);
}

template <class I>
SPRUCE_INLINE float cbrt(float x) {
  const float a = abs(x);
  const bool subnormal = a < kSmallestNormal;
  const std::uint32_t bits = to_bits(subnormal ? a * 0x1p24f : a);
  // a = m 2^(3 third + rest - 255) with m in [1/2, 1).
  const std::uint32_t exponent = (bits >> 23) + 129u;
  const std::uint32_t third = (exponent * 43691u) >> 17;
  const std::uint32_t rest = exponent - 3u * third;
  const float m = from_bits((bits & 0x7fffffu) | 0x3f000000u);
  const float factor = rest == 0 ? 1.0f : (rest == 1 ? 0x1.428a3p0f : 0x1.965feap0f);
  const float whole = rest == 0 ? m : (rest == 1 ? 2.0f * m : 4.0f * m);
  // One step of Newton's method, with the residual in double.
  const float guess = horner<I, kCbrt>(m) * factor;
  const double wide = guess;
  const float residual = static_cast<float>(wide * wide * wide - static_cast<double>(whole));
  const float root = guess - residual / (3.0f * guess * guess);
  const float y = root * power_of_two(static_cast<std::int32_t>(third) - (subnormal ? 93 : 85));
  return a > 0 && a < kInf ? copysign(y, x) : x;
}

template <class I>
SPRUCE_INLINE double cbrt(double x) {
  return std::cbrt(x);
}

/// x to the power y, with C99's special cases.
template <class I>
SPRUCE_INLINE float pow(float x, float y) {
  const float ax = abs(x);
  const float ay = abs(y);
  const auto [f, k] = split<I>(ax);
  const double fraction = f;
  double logarithm = I::fma(horner<I, kPowLog2>(fraction), fraction, static_cast<double>(k));
  logarithm = ax == 0 ? -HUGE_VAL : logarithm;
  logarithm = ax < kInf ? logarithm : static_cast<double>(ax);
  const double exponent = clamp(static_cast<double>(y) * logarithm, -160.0, 160.0);
  const double shifted = exponent + kRoundMagicDouble;
  const float r = static_cast<float>(exponent - (shifted - kRoundMagicDouble));
  const float magnitude = scale(
      exp2_small<I>(r), static_cast<std::int32_t>(static_cast<std::uint32_t>(to_bits(shifted))));

  // From 2^24 on every float is an even integer.
  const std::int32_t whole = static_cast<std::int32_t>(ay < 0x1p24f ? ay : 0.0f);
  const bool integer = ay >= 0x1p24f || static_cast<float>(whole) == ay;
  const std::uint32_t odd = integer ? static_cast<std::uint32_t>(whole) << 31 : 0u;
  float result = from_bits(to_bits(magnitude) ^ (to_bits(x) & odd));
  result = x < 0 && ax < kInf && !integer ? kNan : result;
  result = x != x || y != y ? kNan : result;
  result = ax == 1.0f && ay == kInf ? 1.0f : result;
  return x == 1.0f || y == 0 ? 1.0f : result;
}

template <class I>
SPRUCE_INLINE double pow(double x, double y) {
  return std::pow(x, y);
}

}  // namespace spruce::cpu::math
