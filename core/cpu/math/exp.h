// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"

namespace spruce::cpu::math {

/// x = exponent * ln(2) + remainder with |remainder| <= ln(2) / 2.
template <class T, class Int>
struct Reduced {
  T remainder;
  Int exponent;
};

/// For |x| < 2^13: the upper part of ln(2) has so few bits that its product is exact.
template <class I>
SPRUCE_INLINE Reduced<float, std::int32_t> reduce_ln2(float x) {
  const float shifted = I::fma(x, 0x1.715476p0f, kRoundMagic);
  const float n = shifted - kRoundMagic;
  float r = I::fma(n, -0x1.62e4p-1f, x);
  r = I::fma(n, -0x1.7f7d1cp-20f, r);
  return {r, static_cast<std::int32_t>(to_bits(shifted) - to_bits(kRoundMagic))};
}

template <class I>
SPRUCE_INLINE Reduced<double, std::int64_t> reduce_ln2(double x) {
  const double shifted = I::fma(x, 0x1.71547652b82fep0, kRoundMagicDouble);
  const double n = shifted - kRoundMagicDouble;
  double r = I::fma(n, -0x1.62e42fefap-1, x);
  r = I::fma(n, -0x1.cf79abc9e3b39p-40, r);
  return {r, static_cast<std::int64_t>(to_bits(shifted) - to_bits(kRoundMagicDouble))};
}

/// e^r - 1 for |r| <= ln(2) / 2.
template <class I>
SPRUCE_INLINE float expm1_small(float r) {
  return I::fma(r * r, horner<I, kExp>(r), r);
}
template <class I>
SPRUCE_INLINE double expm1_small(double r) {
  return I::fma(r * r, horner<I, kExpDouble>(r), r);
}

// What rounds to zero is chosen, not computed: an underflow costs hundreds of cycles, and masked
// softmax has many.
template <class I>
SPRUCE_INLINE float exp(float x) {
  const bool none = x < -0x1.9fe368p6f;  // e^x < 2^-150
  const auto [r, n] = reduce_ln2<I>(none ? 0.0f : x > 89.0f ? 89.0f : x);
  const float y = scale(expm1_small<I>(r) + 1.0f, n);
  return none ? 0.0f : y;
}

template <class I>
SPRUCE_INLINE double exp(double x) {
  const bool none = x < -0x1.74910d52d3053p9;  // e^x < 2^-1075
  const auto [r, n] = reduce_ln2<I>(none ? 0.0 : x > 710.0 ? 710.0 : x);
  const double y = scale(expm1_small<I>(r) + 1.0, n);
  return none ? 0.0 : y;
}

/// 2^r for |r| <= 1/2.
template <class I>
SPRUCE_INLINE float exp2_small(float r) {
  return I::fma(horner<I, kExp2>(r), r, 1.0f);
}

template <class I>
SPRUCE_INLINE float exp2(float x) {
  x = clamp(x, -151.0f, 129.0f);
  const float shifted = x + kRoundMagic;
  const float r = x - (shifted - kRoundMagic);
  return scale(exp2_small<I>(r),
               static_cast<std::int32_t>(to_bits(shifted) - to_bits(kRoundMagic)));
}

template <class I>
SPRUCE_INLINE double exp2(double x) {
  return std::exp2(x);
}

template <class I>
SPRUCE_INLINE float expm1(float x) {
  const auto [r, n] = reduce_ln2<I>(clamp(x, -30.0f, 89.0f));
  // Half of the scale, because 2^128 is not a float.
  const float half = power_of_two(n - 1);
  const float y = 2.0f * I::fma(half, expm1_small<I>(r), half - 0.5f);
  return abs(x) < 0x1p-25f ? x : y;
}

template <class I>
SPRUCE_INLINE double expm1(double x) {
  const auto [r, n] = reduce_ln2<I>(clamp(x, -60.0, 710.0));
  const double half = power_of_two(n - 1);
  const double y = 2.0 * I::fma(half, expm1_small<I>(r), half - 0.5);
  return abs(x) < 0x1p-54 ? x : y;
}

}  // namespace spruce::cpu::math
