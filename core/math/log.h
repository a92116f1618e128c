// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"

namespace spruce::math {

/// A positive x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)).
template <class T>
struct Binary {
  T fraction;
  SignedBits<T> exponent;
};

/// Of a normal x.
template <Floating T>
SPRUCE_INLINE Binary<T> split_normal(T x) {
  constexpr int kMantissa = Float32<T> ? 23 : 52;
  using B = Element<Bits<T>>;
  const Bits<T> bits = to_bits(x);
  constexpr B kRootHalf = Float32<T> ? B{0x3f3504f3u} : static_cast<B>(0x3fe6a09e667f3bcdu);
  const SignedBits<T> k = bitcast<Element<SignedBits<T>>>(bits - kRootHalf) >> kMantissa;
  const T m = from_bits(bits - (bitcast<B>(k) << kMantissa));
  return {m, k};
}

template <Floating T>
SPRUCE_INLINE Binary<T> split(T x) {
  using K = Element<SignedBits<T>>;
  const auto subnormal = x < kSmallestNormal<T>;
  const auto [m, k] = split_normal<T>(select(subnormal, x * pick<T>(0x1p23f, 0x1p52), x));
  return {m - T(1), k - select(subnormal, SignedBits<T>(K{Float32<T> ? 23 : 52}), K{0})};
}

/// k as a float, of 64 bits without the conversion that only AVX-512 has as an instruction.
template <Integral K>
SPRUCE_INLINE auto to_float(K k) {
  if constexpr (sizeof(Element<K>) == 4)
    return convert<float>(k);
  else
    return from_bits(bitcast<uint64_t>(k) + to_bits(kRoundMagic<double>)) - kRoundMagic<double>;
}

/// `y`, a logarithm of a positive finite x, or what IEEE 754 says for any other x.
template <Floating T>
SPRUCE_INLINE T log_specials(T x, T y) {
  y = select(x < kInfinity<T>, y, x);
  y = select(x == T(0), T(-kInfinity<T>), y);
  return select(x < T(0), T(kNan<T>), y);
}

/// log(1 + f) = f - (half_square - s * series).
template <class T>
struct LogSeries {
  T half_square, s, series;
};

template <class I, Float64 T>
SPRUCE_INLINE LogSeries<T> log_series(T f) {
  const T s = f / (2.0 + f);
  const T z = s * s;
  const T half_square = 0.5 * f * f;
  return {half_square, s, I::fma(horner<I, kLogDouble>(z), z, half_square)};
}

/// log(1 + f).
template <class I, Float64 T>
SPRUCE_INLINE T log_fraction(T f) {
  const auto [half_square, s, series] = log_series<I>(f);
  return f - (half_square - s * series);
}

/// k ln(2) + log(1 + f).
template <class I, Floating T>
SPRUCE_INLINE T log_assemble(T f, T k) {
  if constexpr (Float32<T>) {
    const T square = f * f;
    T tail = I::fma(horner<I, kLog>(f), f, -0.5f) * square;
    tail = I::fma(k, 0x1.7f7d1cp-20f, tail);
    return I::fma(k, 0x1.62e4p-1f, f + tail);
  } else {
    const auto [half_square, s, series] = log_series<I>(f);
    const T tail = I::fma(s, series, k * 0x1.cf79abc9e3b39p-40);
    return I::fma(k, 0x1.62e42fefap-1, f - (half_square - tail));
  }
}

template <class I, Floating T>
SPRUCE_INLINE T log(T x) {
  const auto [f, k] = split<T>(x);
  return log_specials(x, log_assemble<I>(f, T(to_float(k))));
}

template <class I, Floating T>
SPRUCE_INLINE T log2(T x) {
  const auto [f, k] = split<T>(x);
  if constexpr (Float64<T>) {
    // With log2(e) in two parts: the sum is rounded once.
    const T y = log_fraction<I>(f);
    const T rest = I::fma(y, 0x1.777d0ffda0d24p-56, to_float(k));
    return log_specials(x, I::fma(y, 0x1.71547652b82fep0, rest));
  } else {
    const T slope = I::fma(horner<I, kLog2, 1>(f), f, kLog2[0]) + 0x1.715476p0f;
    return log_specials(x, I::fma(slope, f, to_float(k)));
  }
}

template <class I, Floating T>
SPRUCE_INLINE T log10(T x) {
  const auto [f, k] = split<T>(x);
  const T e = to_float(k);
  if constexpr (Float64<T>) {
    const T y = log_fraction<I>(f);
    const T rest = I::fma(y, 0x1.95355baaafad3p-57, e * 0x1.3fde623e2566bp-43);
    return log_specials(x, I::fma(e, 0x1.34413509f7p-2, I::fma(y, 0x1.bcb7b1526e50ep-2, rest)));
  } else {
    const T slope = I::fma(horner<I, kLog10, 1>(f), f, kLog10[0]) + 0x1.bcb7b2p-2f;
    const T y = I::fma(slope, f, e * 0x1.3509f8p-18f);
    return log_specials(x, I::fma(e, 0x1.344p-2f, y));
  }
}

/// log(1 + x) + extra ln(2) for x > -1, without care for other x.
template <class I, Floating T>
SPRUCE_INLINE T log1p_finite(T x, SignedBits<T> extra = Element<SignedBits<T>>{0}) {
  const auto [m, k] = split_normal<T>(x + T(1));
  // (1 + x) 2^-k - 1 with one rounding; where 1 is lost in x, m has all of it.
  const T s = power_of_two(SignedBits<T>(Element<SignedBits<T>>{0}) - k);
  const T f = select(abs(x) < pick<T>(0x1p26f, 0x1p55), I::fma(x, s, s - T(1)), m - T(1));
  return log_assemble<I>(f, T(to_float(SignedBits<T>(k + extra))));
}

template <class I, Floating T>
SPRUCE_INLINE T log1p(T x) {
  const T y = log_specials<T>(x + T(1), log1p_finite<I>(x));
  return select(abs(x) < std::numeric_limits<Element<T>>::epsilon() / 4, x, y);
}

}  // namespace spruce::math
