// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "spruce/core/scalar/functions.h"
#include "spruce/core/scalar/inline.h"

/// Elementwise mathematics, written once: for the compiler, which vectorises it, and for generators
/// of code.
///
/// Every function is a branch-free template over an `Isa` and over a value: `float` or `double`, or
/// scalar::Expr of one, with which it adds its steps to a program (core/scalar/program.h). A loop
/// over it in a function with a target attribute (core/cpu/targets.h) becomes a vector loop of
/// that instruction set. All that stands between that loop and the call must be SPRUCE_INLINE: a
/// function without the target's attribute has no fused multiply-add instruction and would call one
/// from libm.
namespace spruce::math {

using scalar::abs;
using scalar::bitcast;
using scalar::Bits;
using scalar::convert;
using scalar::copysign;
using scalar::Element;
using scalar::Float32;
using scalar::Float64;
using scalar::Floating;
using scalar::from_bits;
using scalar::Function;
using scalar::Integral;
using scalar::library;
using scalar::Like;
using scalar::max;
using scalar::min;
using scalar::select;
using scalar::select_unlikely;
using scalar::SignedBits;
using scalar::to_bits;
using scalar::trunc;

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

/// The constant of T's element.
template <Floating T>
constexpr Element<T> pick(float narrow, double wide) {
  if constexpr (Float32<T>)
    return narrow;
  else
    return wide;
}
template <Floating T>
inline constexpr Element<T> kInfinity = std::numeric_limits<Element<T>>::infinity();
template <Floating T>
inline constexpr Element<T> kNan = std::numeric_limits<Element<T>>::quiet_NaN();
template <Floating T>
inline constexpr Element<T> kSmallestNormal = std::numeric_limits<Element<T>>::min();

/// a * b less its rounding to `product`.
template <class I, Floating T>
SPRUCE_INLINE T product_error(T a, T b, T product) {
  if constexpr (I::kHasFma) {
    return I::fma(a, b, -product);
  } else {
    using B = Element<Bits<T>>;
    constexpr B kUpperHalf = ~B{0} << (Float32<T> ? 12 : 27);
    const T a_high = from_bits(to_bits(a) & kUpperHalf);
    const T b_high = from_bits(to_bits(b) & kUpperHalf);
    const T a_low = a - a_high;
    const T b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  }
}

/// `x` limited to `[low, high]`; NaN stays NaN.
template <class T>
SPRUCE_INLINE T clamp(T x, std::type_identity_t<T> low, std::type_identity_t<T> high) {
  return min(high, T(max(low, x)));
}

/// Adding one of these to a small number leaves its nearest integer in the low bits of the sum:
/// rounding without an instruction or a call that the baseline lacks.
template <Floating T>
inline constexpr Element<T> kRoundMagic = pick<T>(0x1.8p23f, 0x1.8p52);

/// The integer that was added to kRoundMagic.
template <Floating T>
SPRUCE_INLINE SignedBits<T> integer_of(T shifted) {
  return bitcast<Element<SignedBits<T>>>(to_bits(shifted) - to_bits(kRoundMagic<T>));
}

/// 2^k for a k of the normal range, by its kind: an integer of the size of the float.
template <Integral K>
SPRUCE_INLINE auto power_of_two(K k) {
  constexpr bool kNarrow = sizeof(Element<K>) == 4;
  const auto bits = bitcast<std::conditional_t<kNarrow, uint32_t, uint64_t>>(k);
  if constexpr (kNarrow)
    return from_bits((bits + 127u) << 23);
  else
    return from_bits((bits + uint64_t{1023}) << 52);
}
/// 2^(k + offset) for the k that was added to kRoundMagic.
template <Floating T>
SPRUCE_INLINE T power_of_two(T shifted, int offset = 0) {
  using B = Element<Bits<T>>;
  const B bias = static_cast<B>((Float32<T> ? 127 : 1023) + offset) - to_bits(kRoundMagic<T>);
  return from_bits((to_bits(shifted) + bias) << (Float32<T> ? 23 : 52));
}

/// y * 2^k with one rounding, also where 2^k alone would overflow or be subnormal.
template <Floating T, Integral K>
SPRUCE_INLINE T scale(T y, K k) {
  if constexpr (scalar::kIsExpr<T>) {
    return scale_by(y, convert<Element<T>>(k));
  } else {
    const K half = k >> 1;
    return y * power_of_two(half) * power_of_two(k - half);
  }
}
/// The same for the k that was added to kRoundMagic.
template <Floating T>
SPRUCE_INLINE T scale(T y, T shifted) {
  if constexpr (scalar::kIsExpr<T>)
    return scale_by(y, shifted - kRoundMagic<T>);
  else
    return scale(y, integer_of(shifted));
}

/// c[0] + c[1] x + c[2] x^2 + ... for a table of coefficients.h.
template <class I, const auto& kTable, int kFrom = 0, class T>
SPRUCE_INLINE T horner(T x) {
  constexpr int kLast = static_cast<int>(sizeof(kTable) / sizeof(kTable[0])) - 1;
  constexpr Element<T> kCoefficient = kTable[kFrom];
  if constexpr (kFrom == kLast) {
    return kCoefficient;
  } else {
    return I::fma(horner<I, kTable, kFrom + 1>(x), x, kCoefficient);
  }
}

/// The same for the table of T's element.
template <class I, const auto& kNarrow, const auto& kWide, Floating T>
SPRUCE_INLINE T horner_of(T x) {
  if constexpr (Float32<T>)
    return horner<I, kNarrow>(x);
  else
    return horner<I, kWide>(x);
}

}  // namespace spruce::math
