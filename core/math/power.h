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

template <class I, Floating T>
SPRUCE_INLINE T cbrt(T x) {
  if constexpr (Float64<T>) {
    return library<Function::kCbrt>(x);
  } else {
    const T a = abs(x);
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
    const T y =
        root * power_of_two(bitcast<int32_t>(third) - select(subnormal, SignedBits<T>(93), 85));
    return select(a > T(0) && a < kInf, copysign(y, x), x);
  }
}

/// x to the power y, with C99's special cases.
template <class I, Floating T>
SPRUCE_INLINE T pow(T x, T y) {
  if constexpr (Float64<T>) {
    return library<Function::kPow>(x, y);
  } else {
    using D = Like<T, double>;
    const T ax = abs(x);
    const T ay = abs(y);
    const auto [f, k] = split<T>(ax);
    const D fraction = convert<double>(f);
    D logarithm = I::fma(horner<I, kPowLog2>(fraction), fraction, convert<double>(k));
    logarithm = select(ax == T(0), D(-HUGE_VAL), logarithm);
    logarithm = select(ax < kInf, logarithm, convert<double>(ax));
    const D exponent = clamp<D>(convert<double>(y) * logarithm, -160.0, 160.0);
    const D shifted = exponent + kRoundMagic<D>;
    const T r = convert<float>(exponent - (shifted - kRoundMagic<D>));
    const auto power = bitcast<int32_t>(convert<uint32_t>(to_bits(shifted)));
    const T magnitude = scale(exp2_small<I>(r), power);

    // With || and && GCC makes no masks of these choices for AVX2, and no vectors.
    // From 2^24 on every float is an even integer.
    const SignedBits<T> whole = convert<int32_t>(T(select(ay < 0x1p24f, ay, T(0))));
    const auto integer = (ay >= 0x1p24f) | (convert<float>(whole) == ay);
    const Bits<T> odd = select(integer, bitcast<uint32_t>(whole) << 31u, Bits<T>(0u));
    T result = from_bits(to_bits(magnitude) ^ (to_bits(x) & odd));
    result = select((x < T(0)) & (ax < kInf) & !integer, T(kNan), result);
    result = select((x != x) | (y != y), T(kNan), result);
    result = select((ax == T(1)) & (ay == T(kInf)), T(1), result);
    return select((x == T(1)) | (y == T(0)), T(1), result);
  }
}

/// The root of x^2 + y^2, of f32 in f64.
template <class I, Floating T>
SPRUCE_INLINE T hypot(T a, T b) {
  if constexpr (Float64<T>) {
    return library<Function::kHypot>(a, b);
  } else {
    using D = Like<T, double>;
    const D x = convert<double>(a), y = convert<double>(b);
    const T h = convert<float>(sqrt<I, D>(x * x + y * y));
    return select(abs(a) == T(kInf) || abs(b) == T(kInf), T(kInf), h);
  }
}

}  // namespace spruce::math
