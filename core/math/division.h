// SPDX-License-Identifier: Apache-2.0
// Remainders of floats, and quotients of integers of 32 bits, without the instructions and the
// library functions that take tens of cycles for one element.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "spruce/core/math/isa.h"

namespace spruce::math {

/// a - b trunc(a / b), which is a float: with the sign of a, and exact. Where a / b is so large
/// that its integers have no place in T, or not finite, the library's function gives it.
template <class I, Floating T>
SPRUCE_INLINE T fmod(T a, T b) {
  if constexpr (!I::kHasFma) {
    return library<Function::kFmod>(a, b);
  } else {
    constexpr Element<T> kMost = Float32<T> ? Element<T>(0x1p23) : Element<T>(0x1p52);
    const T q = trunc(a / b);
    // Exact, and so is the correction where a / b was rounded up to q.
    const T r = I::fma(-q, b, a);
    const T corrected = select(r * copysign(T(1), a) < T(0), r + copysign(b, a), r);
    const T y = copysign(select(q == T(0), a, corrected), a);
    const auto unusual = !(abs(q) < T(kMost));
    if constexpr (scalar::kIsExpr<T>)
      return select_unlikely(unusual, library<Function::kFmod>(a, b), y);
    else
      return unusual ? library<Function::kFmod>(a, b) : y;
  }
}

namespace internal {

SPRUCE_INLINE double wide(int32_t x) { return x; }
// Only AVX-512 converts unsigned integers.
SPRUCE_INLINE double wide(uint32_t x) {
  return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + 0x1p31;
}

}  // namespace internal

/// a / b rounded toward zero, for b other than 0, and other than -1 of signed integers: f64 has
/// the bits for it, and the division is one of vectors.
SPRUCE_INLINE int32_t quotient(int32_t a, int32_t b) {
  return static_cast<int32_t>(internal::wide(a) / internal::wide(b));
}
SPRUCE_INLINE uint32_t quotient(uint32_t a, uint32_t b) {
  const double q = __builtin_trunc(internal::wide(a) / internal::wide(b));
  return static_cast<uint32_t>(static_cast<int32_t>(q - 0x1p31)) ^ 0x80000000u;
}

}  // namespace spruce::math
