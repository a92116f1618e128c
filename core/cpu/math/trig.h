// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"

namespace spruce::cpu::math {

/// |x| = (quadrant + 4 i) pi/2 + angle for some integer i, with |angle| <= pi/4.
template <class T, class Bits>
struct Quadrant {
  T angle;
  Bits quadrant;
};

/// The |x| for which `reduce_near` is right.
template <class I>
inline constexpr float kNear = I::kHasFma ? 0x1p17f : 0x1p12f;

template <class I>
SPRUCE_INLINE bool is_near(float x) {
  return abs(x) <= kNear<I>;
}

/// Doubles beyond are left to the C library, all of them where products are rounded.
template <class I>
SPRUCE_INLINE bool is_near(double x) {
  return I::kHasFma && abs(x) <= 0x1p30;
}

/// By Cody and Waite: n parts of pi/2, whose products with the quadrant are exact, are subtracted.
template <class I>
SPRUCE_INLINE Quadrant<float, std::uint32_t> reduce_near(float x) {
  const float a = abs(x);
  const float shifted = I::fma(a, 0x1.45f306p-1f, kRoundMagic);
  const float n = shifted - kRoundMagic;
  float r = 0;
  if constexpr (I::kHasFma) {
    r = I::fma(n, -0x1.921fb6p0f, a);
    r = I::fma(n, 0x1.777a5cp-25f, r);
    r = I::fma(n, 0x1.ee59dap-50f, r);
  } else {
    r = a - n * 0x1.92p0f;
    r = r - n * 0x1.fb4p-12f;
    r = r - n * 0x1.444p-24f;
    r = r - n * 0x1.68c234p-39f;
  }
  return {r, to_bits(shifted)};
}

template <class I>
SPRUCE_INLINE Quadrant<double, std::uint64_t> reduce_near(double x) {
  const double a = abs(x);
  const double shifted = I::fma(a, 0x1.45f306dc9c883p-1, kRoundMagicDouble);
  const double n = shifted - kRoundMagicDouble;
  double r = I::fma(n, -0x1.921fb54442d18p0, a);
  r = I::fma(n, -0x1.1a62633145c07p-54, r);
  r = I::fma(n, 0x1.f1976b7ed8fbcp-110, r);
  return {r, to_bits(shifted)};
}

/// Exact to a float for every finite x, as Payne and Hanek's reduction is, but in four ranges:
/// |x| = y 2^s with an integer y where s > 0, so that whole turns drop out of y (2^s 2/pi mod 4).
/// That constant is cut in three; the products of its first two parts with y are exact in double.
template <class I>
SPRUCE_INLINE Quadrant<float, std::uint32_t> reduce_far(float x) {
  const double a = abs(x);
  const bool second = a >= 0x1p50;
  const bool third = a >= 0x1p77;
  const bool fourth = a >= 0x1p104;
  double unit = second ? 0x1p-27 : 1.0;
  unit = third ? 0x1p-54 : unit;
  unit = fourth ? 0x1p-81 : unit;
  double high = second ? -0x1.1b1bbebp-1 : 0x1.45f306ep-1;
  high = third ? 0x1.4a7f09dp0 : high;
  high = fourth ? -0x1.505c159p0 : high;
  double middle = second ? 0x1.4fe13acp-32 : -0x1.b1bbeadp-32;
  middle = third ? 0x1.7d1f535p-30 : middle;
  middle = fourth ? -0x1.911f925p-30 : middle;
  double low = second ? -0x1.70565911f924fp-64 : -0x1.80f62a0b82b2dp-62;
  low = third ? -0x1.11f924eb53362p-61 : low;
  low = fourth ? 0x1.4acc9e21c8210p-62 : low;

  const double y = a * unit;
  const double turns = y * high;
  const double shifted = turns + kRoundMagicDouble;
  const double rest = I::fma(y, middle, turns - (shifted - kRoundMagicDouble));
  const double shifted_rest = rest + kRoundMagicDouble;
  const double part = I::fma(y, low, rest - (shifted_rest - kRoundMagicDouble));
  return {static_cast<float>(part * 0x1.921fb54442d18p0),
          static_cast<std::uint32_t>(to_bits(shifted)) +
              static_cast<std::uint32_t>(to_bits(shifted_rest))};
}

/// Gives each x the same value whatever its neighbours are: near ones that of `reduce_near`.
template <class I, bool kAllNear>
SPRUCE_INLINE Quadrant<float, std::uint32_t> reduce_half_pi(float x) {
  const auto near = reduce_near<I>(x);
  if constexpr (kAllNear) {
    return near;
  } else {
    const auto far = reduce_far<I>(x);
    const bool is = is_near<I>(x);
    return {is ? near.angle : far.angle, is ? near.quadrant : far.quadrant};
  }
}

template <class I>
SPRUCE_INLINE float sin_small(float r) {
  const float z = r * r;
  return I::fma(r * z, horner<I, kSin>(z), r);
}
template <class I>
SPRUCE_INLINE double sin_small(double r) {
  const double z = r * r;
  return I::fma(r * z, horner<I, kSinDouble>(z), r);
}

template <class I>
SPRUCE_INLINE float cos_small(float r) {
  const float z = r * r;
  return I::fma(z * z, horner<I, kCos>(z), I::fma(z, -0.5f, 1.0f));
}
template <class I>
SPRUCE_INLINE double cos_small(double r) {
  const double z = r * r, half = 0.5 * z, rest = 1.0 - half;
  return rest + I::fma(z * z, horner<I, kCosDouble>(z), (1.0 - rest) - half);
}

template <class I, bool kAllNear = false>
SPRUCE_INLINE float sin(float x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const float y = (q & 1u) != 0 ? cos_small<I>(r) : sin_small<I>(r);
  return from_bits(to_bits(y) ^ (q & 2u) << 30 ^ (to_bits(x) & 0x80000000u));
}

template <class I, bool kAllNear = false>
SPRUCE_INLINE double sin(double x) {
  if constexpr (!kAllNear) {
    if (!is_near<I>(x)) return std::sin(x);
  }
  const auto [r, q] = reduce_near<I>(x);
  const double y = (q & 1u) != 0 ? cos_small<I>(r) : sin_small<I>(r);
  return from_bits(to_bits(y) ^ (q & 2u) << 62 ^ (to_bits(x) & std::uint64_t{1} << 63));
}

template <class I, bool kAllNear = false>
SPRUCE_INLINE float cos(float x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const float y = (q & 1u) != 0 ? sin_small<I>(r) : cos_small<I>(r);
  return from_bits(to_bits(y) ^ ((q + 1u) & 2u) << 30);
}

template <class I, bool kAllNear = false>
SPRUCE_INLINE double cos(double x) {
  if constexpr (!kAllNear) {
    if (!is_near<I>(x)) return std::cos(x);
  }
  const auto [r, q] = reduce_near<I>(x);
  const double y = (q & 1u) != 0 ? sin_small<I>(r) : cos_small<I>(r);
  return from_bits(to_bits(y) ^ ((q + 1u) & 2u) << 62);
}

template <class I, bool kAllNear = false>
SPRUCE_INLINE float tan(float x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const float z = r * r;
  const float t = I::fma(r * z, horner<I, kTan>(z), r);
  const float y = (q & 1u) != 0 ? -1.0f / t : t;
  return from_bits(to_bits(y) ^ (to_bits(x) & 0x80000000u));
}

template <class I>
SPRUCE_INLINE double tan(double x) {
  return std::tan(x);
}

}  // namespace spruce::cpu::math
