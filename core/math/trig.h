// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"

namespace spruce::math {

/// |x| = (quadrant + 4 i) pi/2 + angle for some integer i, with |angle| <= pi/4.
template <class T>
struct Quadrant {
  T angle;
  Bits<T> quadrant;
};

/// The largest |x| for which `reduce_near` is right. Doubles beyond are left to the C library, all
/// of them where products are rounded.
template <class I, Floating T>
inline constexpr Element<T> kNear = I::kHasFma ? pick<T>(0x1p17f, 0x1p30) : pick<T>(0x1p12f, -1);

template <class I, Floating T>
SPRUCE_INLINE auto is_near(T x) {
  return abs(x) <= kNear<I, T>;
}

/// By Cody and Waite: n parts of pi/2, whose products with the quadrant are exact, are subtracted.
template <class I, Floating T>
SPRUCE_INLINE Quadrant<T> reduce_near(T x) {
  const T a = abs(x);
  const T shifted = I::fma(a, pick<T>(0x1.45f306p-1f, 0x1.45f306dc9c883p-1), kRoundMagic<T>);
  const T n = shifted - kRoundMagic<T>;
  T r = a;
  if constexpr (I::kHasFma || Float64<T>) {
    r = I::fma(n, pick<T>(-0x1.921fb6p0f, -0x1.921fb54442d18p0), a);
    r = I::fma(n, pick<T>(0x1.777a5cp-25f, -0x1.1a62633145c07p-54), r);
    r = I::fma(n, pick<T>(0x1.ee59dap-50f, 0x1.f1976b7ed8fbcp-110), r);
  } else {
    r = a - n * 0x1.92p0f;
    r = r - n * 0x1.fb4p-12f;
    r = r - n * 0x1.444p-24f;
    r = r - n * 0x1.68c234p-39f;
  }
  return {r, to_bits(shifted)};
}

/// Exact to a float for every finite x, as Payne and Hanek's reduction is, but in four ranges:
/// |x| = y 2^s with an integer y where s > 0, so that whole turns drop out of y (2^s 2/pi mod 4).
/// That constant is cut in three; the products of its first two parts with y are exact in double.
template <class I, Float32 T>
SPRUCE_INLINE Quadrant<T> reduce_far(T x) {
  using D = Like<T, double>;
  const D a = convert<double>(abs(x));
  const auto second = a >= 0x1p50;
  const auto third = a >= 0x1p77;
  const auto fourth = a >= 0x1p104;
  D unit = select(second, D(0x1p-27), 1.0);
  unit = select(third, D(0x1p-54), unit);
  unit = select(fourth, D(0x1p-81), unit);
  D high = select(second, D(-0x1.1b1bbebp-1), 0x1.45f306ep-1);
  high = select(third, D(0x1.4a7f09dp0), high);
  high = select(fourth, D(-0x1.505c159p0), high);
  D middle = select(second, D(0x1.4fe13acp-32), -0x1.b1bbeadp-32);
  middle = select(third, D(0x1.7d1f535p-30), middle);
  middle = select(fourth, D(-0x1.911f925p-30), middle);
  D low = select(second, D(-0x1.70565911f924fp-64), -0x1.80f62a0b82b2dp-62);
  low = select(third, D(-0x1.11f924eb53362p-61), low);
  low = select(fourth, D(0x1.4acc9e21c8210p-62), low);

  const D y = a * unit;
  const D turns = y * high;
  const D shifted = turns + kRoundMagic<D>;
  const D rest = I::fma(y, middle, turns - (shifted - kRoundMagic<D>));
  const D shifted_rest = rest + kRoundMagic<D>;
  const D part = I::fma(y, low, rest - (shifted_rest - kRoundMagic<D>));
  return {convert<float>(part * 0x1.921fb54442d18p0),
          convert<uint32_t>(to_bits(shifted)) + convert<uint32_t>(to_bits(shifted_rest))};
}

/// Gives each x the same value whatever its neighbours are: near ones that of `reduce_near`.
template <class I, bool kAllNear, Floating T>
SPRUCE_INLINE Quadrant<T> reduce_half_pi(T x) {
  const auto near = reduce_near<I>(x);
  if constexpr (kAllNear || Float64<T>) {
    return near;
  } else {
    const auto far = reduce_far<I>(x);
    const auto is_far = abs(x) > kNear<I, T>;
    return {select_unlikely(is_far, far.angle, near.angle),
            select_unlikely(is_far, far.quadrant, near.quadrant)};
  }
}

template <class I, Floating T>
SPRUCE_INLINE T sin_small(T r) {
  const T z = r * r;
  return I::fma(r * z, horner_of<I, kSin, kSinDouble>(z), r);
}

template <class I, Floating T>
SPRUCE_INLINE T cos_small(T r) {
  const T z = r * r;
  if constexpr (Float32<T>) {
    return I::fma(z * z, horner<I, kCos>(z), I::fma(z, -0.5f, 1.0f));
  } else {
    const T half = 0.5 * z, rest = 1.0 - half;
    return rest + I::fma(z * z, horner<I, kCosDouble>(z), (1.0 - rest) - half);
  }
}

/// y with its sign changed where bit 1 of `quadrant` is set.
template <Floating T>
SPRUCE_INLINE Bits<T> with_sign_of(T y, Bits<T> quadrant) {
  return to_bits(y) ^ (quadrant & 2u) << (Float32<T> ? 30u : 62u);
}
template <Floating T>
SPRUCE_INLINE Bits<T> sign_bit_of(T x) {
  constexpr int kLast = Float32<T> ? 31 : 63;
  return to_bits(x) & (Element<Bits<T>>{1} << kLast);
}

/// `f` of doubles that are not near is the C library's.
template <class I, Function kFar, bool kAllNear, Floating T>
SPRUCE_INLINE T unless_far(T x, T near) {
  if constexpr (Float32<T> || kAllNear)
    return near;
  else if constexpr (scalar::kIsExpr<T>)
    return select_unlikely(abs(x) > kNear<I, T>, library<kFar>(x), near);
  else
    return is_near<I>(x) ? near : library<kFar>(x);
}

template <class I, bool kAllNear = false, Floating T>
SPRUCE_INLINE T sin(T x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const T y = select((q & 1u) != 0u, cos_small<I, T>(r), sin_small<I, T>(r));
  const T signed_y = from_bits(with_sign_of(y, q) ^ sign_bit_of(x));
  return unless_far<I, Function::kSin, kAllNear>(x, signed_y);
}

template <class I, bool kAllNear = false, Floating T>
SPRUCE_INLINE T cos(T x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const T y = select((q & 1u) != 0u, sin_small<I, T>(r), cos_small<I, T>(r));
  return unless_far<I, Function::kCos, kAllNear, T>(x, from_bits(with_sign_of<T>(y, q + 1u)));
}

template <class I, bool kAllNear = false, Floating T>
SPRUCE_INLINE T tan(T x) {
  const auto [r, q] = reduce_half_pi<I, kAllNear>(x);
  const auto odd = (q & 1u) != 0u;
  T y;
  if constexpr (Float32<T>) {
    const T z = r * r;
    const T t = I::fma(r * z, horner<I, kTan>(z), r);
    y = select(odd, -1.0f / t, t);
  } else {
    const T s = sin_small<I, T>(r), c = cos_small<I, T>(r);
    y = select(odd, -c, s) / select(odd, s, c);
  }
  const T signed_y = from_bits(to_bits(y) ^ sign_bit_of(x));
  return unless_far<I, Function::kTan, kAllNear>(x, signed_y);
}

}  // namespace spruce::math
