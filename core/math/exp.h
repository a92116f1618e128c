// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/isa.h"

namespace spruce::math {

/// x = n ln(2) + remainder with an integer n and |remainder| <= ln(2) / 2.
template <class T>
struct Reduced {
  T remainder;
  T shifted;  ///< n + kRoundMagic
};

/// For |x| < 2^13 in f32: the upper part of ln(2) has so few bits that its product is exact.
template <class I, Floating T>
SPRUCE_INLINE Reduced<T> reduce_ln2(T x) {
  const T shifted = I::fma(x, pick<T>(0x1.715476p0f, 0x1.71547652b82fep0), kRoundMagic<T>);
  const T n = shifted - kRoundMagic<T>;
  const T r = I::fma(n, pick<T>(-0x1.62e4p-1f, -0x1.62e42fefap-1), x);
  return {I::fma(n, pick<T>(-0x1.7f7d1cp-20f, -0x1.cf79abc9e3b39p-40), r), shifted};
}

/// e^r - 1 for |r| <= ln(2) / 2.
template <class I, Floating T>
SPRUCE_INLINE T expm1_small(T r) {
  return I::fma(r * r, horner_of<I, kExp, kExpDouble>(r), r);
}

// What rounds to zero is chosen, not computed: an underflow costs hundreds of cycles, and masked
// softmax has many.
template <class I, Floating T>
SPRUCE_INLINE T exp(T x) {
  // e^x < 2^-150, or 2^-1075.
  const auto none = x < pick<T>(-0x1.9fe368p6f, -0x1.74910d52d3053p9);
  const auto [r, n] = reduce_ln2<I>(select(none, T(0), min(T(pick<T>(89, 710)), x)));
  return select(none, T(0), scale(expm1_small<I>(r) + T(1), n));
}

/// 2^r for |r| <= 1/2.
template <class I, Floating T>
SPRUCE_INLINE T exp2_small(T r) {
  if constexpr (Float32<T>)
    return I::fma(horner<I, kExp2>(r), r, 1.0f);
  else
    return expm1_small<I>(r * 0x1.62e42fefa39efp-1) + T(1);
}

template <class I, Floating T>
SPRUCE_INLINE T exp2(T x) {
  x = clamp(x, pick<T>(-151, -1080), pick<T>(129, 1025));
  const T shifted = x + kRoundMagic<T>;
  return scale(exp2_small<I, T>(x - (shifted - kRoundMagic<T>)), shifted);
}

template <class I, Floating T>
SPRUCE_INLINE T expm1(T x) {
  const auto [r, n] = reduce_ln2<I>(clamp(x, pick<T>(-30, -60), pick<T>(89, 710)));
  // Half of the scale, because 2^128 is not a float.
  const T half = power_of_two(n, -1);
  const T y = T(2) * I::fma(half, expm1_small<I>(r), half - T(0.5));
  return select(abs(x) < pick<T>(0x1p-25f, 0x1p-54), x, y);
}

}  // namespace spruce::math
