// SPDX-License-Identifier: Apache-2.0
// What operators do not say, for scalars as Expr<T> has it, so that one template serves both.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "spruce/core/scalar/expr.h"
#include "spruce/core/scalar/inline.h"

namespace spruce::scalar {

/// c ? a : b.
template <class T>
requires std::is_arithmetic_v<T> SPRUCE_INLINE T select(bool c, T a, std::type_identity_t<T> b) {
  return c ? a : b;
}
/// The same, where c is hardly ever true.
template <class T>
requires std::is_arithmetic_v<T> SPRUCE_INLINE T select_unlikely(bool c, T a,
                                                                 std::type_identity_t<T> b) {
  return c ? a : b;
}

/// a < b ? a : b, so b where one is NaN.
template <class T>
requires std::is_arithmetic_v<T> SPRUCE_INLINE T min(T a, std::type_identity_t<T> b) {
  return a < b ? a : b;
}
/// a > b ? a : b.
template <class T>
requires std::is_arithmetic_v<T> SPRUCE_INLINE T max(T a, std::type_identity_t<T> b) {
  return a > b ? a : b;
}

SPRUCE_INLINE float abs(float x) { return __builtin_fabsf(x); }
SPRUCE_INLINE double abs(double x) { return __builtin_fabs(x); }
SPRUCE_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
SPRUCE_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }
SPRUCE_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
SPRUCE_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
SPRUCE_INLINE float trunc(float x) { return __builtin_truncf(x); }
SPRUCE_INLINE double trunc(double x) { return __builtin_trunc(x); }

/// The integer type of the size of T's element.
template <class T>
using Bits = Like<T, std::conditional_t<sizeof(Element<T>) == 4, uint32_t, uint64_t>>;
template <class T>
using SignedBits = Like<T, std::conditional_t<sizeof(Element<T>) == 4, int32_t, int64_t>>;

/// The same bits as another type of that size.
template <class To, class T>
SPRUCE_INLINE Like<T, To> bitcast(T x) {
  if constexpr (kIsExpr<T>)
    return x.template to<To>(Op::kBitcast);
  else
    return __builtin_bit_cast(To, x);
}
template <Floating T>
SPRUCE_INLINE Bits<T> to_bits(T x) {
  return bitcast<Element<Bits<T>>>(x);
}
template <Integral T>
SPRUCE_INLINE auto from_bits(T x) {
  return bitcast<std::conditional_t<sizeof(Element<T>) == 4, float, double>>(x);
}

/// Another number type; of a float to an integer that holds it.
template <class To, class T>
SPRUCE_INLINE Like<T, To> convert(T x) {
  if constexpr (kIsExpr<T>)
    return x.template to<To>(Op::kConvert);
  else
    return static_cast<To>(x);
}

/// A function of the C library.
template <Function kFunction, class T>
SPRUCE_INLINE T library(T x) {
  if constexpr (kIsExpr<T>)
    return x.call(kFunction);
  else if constexpr (kFunction == Function::kSin)
    return std::sin(x);
  else if constexpr (kFunction == Function::kCos)
    return std::cos(x);
  else if constexpr (kFunction == Function::kTan)
    return std::tan(x);
  else {
    static_assert(kFunction == Function::kLgamma);
    int sign = 0;
    return ::lgamma_r(x, &sign);
  }
}
template <Function kFunction, class T>
SPRUCE_INLINE T library(T a, T b) {
  if constexpr (kIsExpr<T>)
    return a.call(kFunction, b);
  else {
    static_assert(kFunction == Function::kFmod);
    return std::fmod(a, b);
  }
}

}  // namespace spruce::scalar
