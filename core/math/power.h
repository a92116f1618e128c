// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/exp.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/math/log.h"

namespace spruce::math {

template <class I, Floating T>
SPRUCE_INLINE T sqrt(T x) {
  using scalar::sqrt;
  return sqrt(x);
}

template <class I, Floating T>
SPRUCE_INLINE T rsqrt(T x) {
  return T(1) / sqrt<I>(x);
}

/// A step of Newton's method from `guess` to the cube root of `x`, with an exact residual.
template <class I, Float64 T>
SPRUCE_INLINE T cbrt_step(T guess, T x) {
  const T square = guess * guess, cube = square * guess;
  const T residual = I::fma(product_error<I>(guess, guess, square), guess,
                            (cube - x) + product_error<I>(square, guess, cube));
  return guess - residual / (3.0 * square);
}

template <class I, Floating T>
SPRUCE_INLINE T cbrt(T x) {
  const T a = abs(x);
  T y;
  if constexpr (Float64<T>) {
    // a = m 2^(3 third + rest) with m in [sqrt(1/2), sqrt(2)) and rest of -1, 0 and 1.
    const auto [f, k] = split<T>(a);
    const T m = f + 1.0, exponent = to_float(k);
    const T third = I::fma(exponent, 1.0 / 3, kRoundMagic<T>);
    const T rest = exponent - 3.0 * (third - kRoundMagic<T>);
    const auto low = rest < T(0);
    const auto high = rest > T(0);
    const T factor =
        select(low, T(0x1.965fea53d6e3dp-1), select(high, T(0x1.428a2f98d728bp0), 1.0));
    const T whole = m * select(low, T(0.5), select(high, T(2.0), 1.0));
    y = cbrt_step<I, T>(horner<I, kCbrtDouble>(m) * factor, whole) * power_of_two(third);
  } else {
    const auto subnormal = a < kSmallestNormal<T>;
    const Bits<T> bits = to_bits(T(select(subnormal, a * 0x1p24f, a)));
    // a = m 2^(3 third + rest - 255) with m in [1/2, 1).
    const Bits<T> exponent = (bits >> 23u) + 129u;
    const Bits<T> third = (exponent * 43691u) >> 17u;
    const Bits<T> rest = exponent - 3u * third;
    const T m = from_bits((bits & 0x7fffffu) | 0x3f000000u);
    const auto none = rest == 0u, one = rest == 1u;
    const T factor = select(none, T(1), select(one, T(0x1.428a3p0f), 0x1.965feap0f));
    const T whole = select(none, m, select(one, 2.0f * m, 4.0f * m));
    // One step of Newton's method, with the residual in double.
    const T guess = horner<I, kCbrt>(m) * factor;
    const auto wide = convert<double>(guess);
    const T residual = convert<float>(wide * wide * wide - convert<double>(whole));
    const T root = guess - residual / (3.0f * guess * guess);
    y = root * power_of_two(bitcast<int32_t>(third) - select(subnormal, SignedBits<T>(93), 85));
  }
  return select(a > T(0) && a < kInfinity<T>, copysign(y, x), x);
}

/// The sum of two numbers, the second of which is what a rounding of the sum loses.
template <class T>
struct Pair {
  T high, low;
};

/// |n|, also of the lowest number.
constexpr uint64_t unsigned_abs(int64_t n) {
  return n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
}

template <class I, Float64 T>
SPRUCE_INLINE Pair<T> product(Pair<T> a, Pair<T> b) {
  const T high = a.high * b.high;
  const T error = product_error<I>(a.high, b.high, high);
  return {high, I::fma(a.high, b.low, I::fma(a.low, b.high, error))};
}

/// x^n for n other than 0, by squaring pairs: as good as rounded once.
template <class I, Float64 T>
SPRUCE_INLINE T integer_power(T x, int64_t n) {
  Pair<T> square{x, T(0)};
  if (n < 0) {
    const T inverse = 1.0 / x, one = inverse * x;
    square = {inverse, ((1.0 - one) - product_error<I>(inverse, x, one)) * inverse};
  }
  uint64_t rest = unsigned_abs(n);
  for (; (rest & 1) == 0; rest >>= 1) square = product<I>(square, square);
  Pair<T> y = square;
  while ((rest >>= 1) != 0) {
    square = product<I>(square, square);
    if ((rest & 1) != 0) y = product<I>(y, square);
  }
  // What is lost by a rounding to infinity is no number.
  const auto finite = abs(y.high) < kInfinity<T>;
  return select(finite & (y.high != T(0)), y.high + y.low, y.high);
}

/// log2(1 + f) + k with an error of 2^-65 of it, for an integer k.
template <class I, Float64 T>
SPRUCE_INLINE Pair<T> log2_pair(T f, T k) {
  // log2(1 + f) = s (c0 + c1 s^2 + ...) for s = f / (2 + f); c0, c1 and s^2 are pairs.
  constexpr double kC0 = 0x1.71547652b82fep1, kC0Low = 0x1.777d0ffda0d24p-55;
  constexpr double kC1 = 0x1.ec709dc3a03fdp-1, kC1Low = 0x1.d27f05548af0cp-55;
  const T d = 2.0 + f, d_error = f - (d - 2.0);
  const T s = f / d, sd = s * d;
  const T s_low = (((f - sd) - product_error<I>(s, d, sd)) - s * d_error) / d;
  const T z = s * s, z_low = I::fma(T(2.0 * s), s_low, product_error<I>(s, s, z));
  const T u = z * kC1;
  const T u_low = I::fma(z, kC1Low, I::fma(z_low, kC1, product_error<I, T>(z, kC1, u)));
  const T v = z * z * horner<I, kPowLog2Double>(z);
  const T part = u + kC0, sum = part + v;
  const T sum_low = ((u - (part - kC0)) + (v - (sum - part))) + (u_low + kC0Low);
  const T y = sum * s;
  const T y_low = I::fma(sum_low, s, I::fma(sum, s_low, product_error<I>(sum, s, y)));
  const T high = k + y;
  return {high, (y - (high - k)) + y_low};
}

/// 2^(x + low) for |x| <= 1/2 and a much smaller `low`. What is added to 1 + x log(2) is small, so
/// that only the last rounding counts.
template <class I, Float64 T>
SPRUCE_INLINE T exp2_pair(T x, T low) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1, kLog2Low = 0x1.abc9e3b39803fp-56;
  const T product = x * kLog2;
  const T rest = I::fma(x, kLog2Low, I::fma(low, kLog2, product_error<I, T>(x, kLog2, product)));
  const T p = product + rest, p_low = (product - p) + rest;
  const T sum = p + 1.0;
  return sum + ((p - (sum - 1.0)) + I::fma(p * p, horner<I, kExpDouble>(p), p_low));
}

/// x to the power y, with C99's special cases.
template <class I, Floating T>
SPRUCE_INLINE T pow(T x, T y) {
  const T ax = abs(x);
  const T ay = abs(y);
  const auto [f, k] = split<T>(ax);
  T magnitude;
  if constexpr (!Float64<T>) {
    using D = Like<T, double>;
    const D fraction = convert<double>(f);
    D logarithm = I::fma(horner<I, kPowLog2>(fraction), fraction, convert<double>(k));
    logarithm = select(ax == T(0), D(-HUGE_VAL), logarithm);
    logarithm = select(ax < kInfinity<T>, logarithm, convert<double>(ax));
    const D exponent = clamp<D>(convert<double>(y) * logarithm, -160.0, 160.0);
    const D shifted = exponent + kRoundMagic<D>;
    const T r = convert<float>(exponent - (shifted - kRoundMagic<D>));
    magnitude = scale(exp2_small<I>(r), bitcast<int32_t>(convert<uint32_t>(to_bits(shifted))));
  } else {
    auto [high, low] = log2_pair<I, T>(f, to_float(k));
    high = select(ax == T(0), T(-HUGE_VAL), high);
    high = select(ax < kInfinity<T>, high, ax);
    const T exponent = y * high, limited = clamp<T>(exponent, -1100.0, 1100.0);
    const T rest = I::fma(y, low, product_error<I>(y, high, exponent));
    const T shifted = limited + kRoundMagic<T>;
    const T r = limited - (shifted - kRoundMagic<T>);
    magnitude = scale(exp2_pair<I, T>(r, select(limited == exponent, rest, 0.0)), shifted);
  }

  // With || and && GCC makes no masks of these choices for AVX2, and no vectors.
  const T half = T(0.5) * ay;
  const auto integer = trunc(ay) == ay;
  const auto odd = integer & (trunc(half) != half);
  T result = select(odd, copysign(magnitude, x), magnitude);
  const auto finite = ax < kInfinity<T>;
  result = select((x < T(0)) & finite & !integer, T(kNan<T>), result);
  result = select((x != x) | (y != y), T(kNan<T>), result);
  result = select((ax == T(1)) & (ay == T(kInfinity<T>)), T(1), result);
  return select((x == T(1)) | (y == T(0)), T(1), result);
}

/// The root of x^2 + y^2, of f32 in f64.
template <class I, Floating T>
SPRUCE_INLINE T hypot(T a, T b) {
  T h;
  if constexpr (Float32<T>) {
    using D = Like<T, double>;
    const D x = convert<double>(a), y = convert<double>(b);
    h = convert<float>(sqrt<I, D>(x * x + y * y));
  } else {
    // Squares that overflow or lose digits are scaled by powers of two.
    const T largest = max(abs(a), abs(b));
    const auto huge = largest > 0x1p500, tiny = largest < 0x1p-450;
    const T unit = select(huge, T(0x1p-600), select(tiny, T(0x1p600), 1.0));
    const T back = select(huge, T(0x1p600), select(tiny, T(0x1p-600), 1.0));
    const T x = a * unit, y = b * unit;
    h = sqrt<I, T>(I::fma(x, x, y * y)) * back;
  }
  return select(abs(a) == T(kInfinity<T>) || abs(b) == T(kInfinity<T>), T(kInfinity<T>), h);
}

}  // namespace spruce::math
