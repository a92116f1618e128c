// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "spruce/core/cpu/math/inline.h"

/// Elementwise mathematics that the compiler vectorises.
///
/// Every function of `float` is a branch-free template over an `Isa`; a loop over it in a function
/// with a target attribute (core/cpu/math/inline.h) becomes a vector loop of that instruction set.
/// All that stands between that loop and the call must be SPRUCE_INLINE: a function without the
/// target's attribute has no fused multiply-add instruction and would call one from libm.
namespace spruce::cpu::math {

/// What an instruction set gives to the functions here. `kFma`: it has a fused multiply-add.
template <bool kFma>
struct Isa {
  static constexpr bool kHasFma = kFma;

  static SPRUCE_INLINE float fma(float a, float b, float c) {
    if constexpr (kFma) {
      return __builtin_fmaf(a, b, c);
    } else {
      return a * b + c;
    }
  }

  static SPRUCE_INLINE double fma(double a, double b, double c) {
    if constexpr (kFma) {
      return __builtin_fma(a, b, c);
    } else {
      return a * b + c;
    }
  }
};

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kSmallestNormal = std::numeric_limits<float>::min();

SPRUCE_INLINE std::uint32_t to_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
SPRUCE_INLINE std::uint64_t to_bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
SPRUCE_INLINE float from_bits(std::uint32_t b) { return __builtin_bit_cast(float, b); }
SPRUCE_INLINE double from_bits(std::uint64_t b) { return __builtin_bit_cast(double, b); }

SPRUCE_INLINE float abs(float x) { return __builtin_fabsf(x); }
SPRUCE_INLINE double abs(double x) { return __builtin_fabs(x); }
SPRUCE_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
SPRUCE_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

/// a * b less its rounding to `product`.
template <class I>
SPRUCE_INLINE float product_error(float a, float b, float product) {
  if constexpr (I::kHasFma) {
    return __builtin_fmaf(a, b, -product);
  } else {
    const float a_high = from_bits(to_bits(a) & 0xfffff000u);
    const float b_high = from_bits(to_bits(b) & 0xfffff000u);
    const float a_low = a - a_high;
    const float b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  }
}

/// `x` limited to `[low, high]`; NaN stays NaN.
template <class T>
SPRUCE_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// Adding one of these to a small number leaves its nearest integer in the low bits of the sum:
/// rounding without an instruction or a call that the baseline lacks.
inline constexpr float kRoundMagic = 0x1.8p23f;
inline constexpr double kRoundMagicDouble = 0x1.8p52;

/// 2^k for a k of the normal range.
SPRUCE_INLINE float power_of_two(std::int32_t k) {
  return from_bits((static_cast<std::uint32_t>(k) + 127u) << 23);
}
SPRUCE_INLINE double power_of_two(std::int64_t k) {
  return from_bits((static_cast<std::uint64_t>(k) + 1023u) << 52);
}

/// y * 2^k with one rounding, also where 2^k alone would overflow or be subnormal.
SPRUCE_INLINE float scale(float y, std::int32_t k) {
  const std::int32_t half = k >> 1;
  return y * power_of_two(half) * power_of_two(k - half);
}
SPRUCE_INLINE double scale(double y, std::int64_t k) {
  const std::int64_t half = k >> 1;
  return y * power_of_two(half) * power_of_two(k - half);
}

/// c[0] + c[1] x + c[2] x^2 + ... for a table of coefficients.h.
template <class I, const auto& kTable, int kFrom = 0, class T>
SPRUCE_INLINE T horner(T x) {
  constexpr int kLast = static_cast<int>(sizeof(kTable) / sizeof(kTable[0])) - 1;
  constexpr T kCoefficient = kTable[kFrom];
  if constexpr (kFrom == kLast) {
    return kCoefficient;
  } else {
    return I::fma(horner<I, kTable, kFrom + 1>(x), x, kCoefficient);
  }
}

}  // namespace spruce::cpu::math
