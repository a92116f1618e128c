// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/inline.h"
#include "spruce/core/cpu/math/isa.h"

namespace spruce::cpu::math {

/// A positive x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)).
template <class T, class Int>
struct Binary {
  T fraction;
  Int exponent;
};

template <class I>
SPRUCE_INLINE Binary<float, std::int32_t> split(float x) {
  const bool subnormal = x < kSmallestNormal;
  const std::uint32_t bits = to_bits(subnormal ? x * 0x1p23f : x);
  const std::int32_t k = static_cast<std::int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = from_bits(bits - (static_cast<std::uint32_t>(k) << 23));
  return {m - 1.0f, k - (subnormal ? 23 : 0)};
}

template <class I>
SPRUCE_INLINE Binary<double, std::int64_t> split(double x) {
  const bool subnormal = x < std::numeric_limits<double>::min();
  const std::uint64_t bits = to_bits(subnormal ? x * 0x1p52 : x);
  const std::int64_t k = static_cast<std::int64_t>(bits - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = from_bits(bits - (static_cast<std::uint64_t>(k) << 52));
  return {m - 1.0, k - (subnormal ? 52 : 0)};
}

/// k as a double without the conversion of int64 that only AVX-512 has as an instruction.
SPRUCE_INLINE double to_double(std::int64_t k) {
  return from_bits(to_bits(kRoundMagicDouble) + static_cast<std::uint64_t>(k)) - kRoundMagicDouble;
}

/// `y`, a logarithm of a positive finite x, or what IEEE 754 says for any other x.
template <class T>
SPRUCE_INLINE T log_specials(T x, T y) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  y = x < kInfinity ? y : x;
  y = x == 0 ? -kInfinity : y;
  return x < 0 ? std::numeric_limits<T>::quiet_NaN() : y;
}

/// k ln(2) + log(1 + f).
template <class I>
SPRUCE_INLINE float log_assemble(float f, float k) {
  const float square = f * f;
  float tail = I::fma(horner<I, kLog>(f), f, -0.5f) * square;
  tail = I::fma(k, 0x1.7f7d1cp-20f, tail);
  return I::fma(k, 0x1.62e4p-1f, f + tail);
}

template <class I>
SPRUCE_INLINE double log_assemble(double f, double k) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half_square = 0.5 * f * f;
  const double tail =
      I::fma(s, I::fma(horner<I, kLogDouble>(z), z, half_square), k * 0x1.cf79abc9e3b39p-40);
  return I::fma(k, 0x1.62e42fefap-1, f - (half_square - tail));
}

template <class I>
SPRUCE_INLINE float log(float x) {
  const auto [f, k] = split<I>(x);
  return log_specials(x, log_assemble<I>(f, static_cast<float>(k)));
}

template <class I>
SPRUCE_INLINE double log(double x) {
  const auto [f, k] = split<I>(x);
  return log_specials(x, log_assemble<I>(f, to_double(k)));
}

template <class I>
SPRUCE_INLINE float log2(float x) {
  const auto [f, k] = split<I>(x);
  const float slope = I::fma(horner<I, kLog2, 1>(f), f, kLog2[0]) + 0x1.715476p0f;
  return log_specials(x, I::fma(slope, f, static_cast<float>(k)));
}

template <class I>
SPRUCE_INLINE double log2(double x) {
  return std::log2(x);
}

template <class I>
SPRUCE_INLINE float log10(float x) {
  const auto [f, k] = split<I>(x);
  const float e = static_cast<float>(k);
  const float slope = I::fma(horner<I, kLog10, 1>(f), f, kLog10[0]) + 0x1.bcb7b2p-2f;
  const float y = I::fma(slope, f, e * 0x1.3509f8p-18f);
  return log_specials(x, I::fma(e, 0x1.344p-2f, y));
}

template <class I>
SPRUCE_INLINE double log10(double x) {
  return std::log10(x);
}

/// log(1 + x) + extra ln(2) for x > -1, without care for other x.
template <class I>
SPRUCE_INLINE float log1p_finite(float x, std::int32_t extra = 0) {
  const std::uint32_t bits = to_bits(1.0f + x);
  const std::int32_t k = static_cast<std::int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = from_bits(bits - (static_cast<std::uint32_t>(k) << 23));
  // (1 + x) 2^-k - 1 with one rounding; where 1 is lost in x, m has all of it.
  const float s = power_of_two(-k);
  const float f = abs(x) < 0x1p26f ? I::fma(x, s, s - 1.0f) : m - 1.0f;
  return log_assemble<I>(f, static_cast<float>(k + extra));
}

template <class I>
SPRUCE_INLINE double log1p_finite(double x) {
  const std::uint64_t bits = to_bits(1.0 + x);
  const std::int64_t k = static_cast<std::int64_t>(bits - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = from_bits(bits - (static_cast<std::uint64_t>(k) << 52));
  const double s = power_of_two(-k);
  const double f = abs(x) < 0x1p55 ? I::fma(x, s, s - 1.0) : m - 1.0;
  return log_assemble<I>(f, to_double(k));
}

template <class I, class T>
SPRUCE_INLINE T log1p(T x) {
  const T y = log_specials(x + 1, log1p_finite<I>(x));
  return abs(x) < std::numeric_limits<T>::epsilon() / 4 ? x : y;
}

}  // namespace spruce::cpu::math
