// SPDX-License-Identifier: Apache-2.0
// The 16-bit floating-point element types: storage only, arithmetic happens in float.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "spruce/core/cxx20.h"

namespace spruce {

/// Brain float: the upper half of an IEEE binary32. Converts from float to nearest, ties to even.
struct Bfloat16 {
  uint16_t bits = 0;  ///< sign, 8 bits of exponent, 7 of mantissa, from the top

  /// 0.
  constexpr Bfloat16() = default;
  /// The nearest one; infinite where that is beyond the range, a quiet NaN for NaN.
  constexpr explicit Bfloat16(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    const uint32_t rounded = u + 0x7fffu + ((u >> 16) & 1u);
    bits = static_cast<uint16_t>(nan ? (u >> 16) | 0x40u : rounded >> 16);
  }
  /// The same value; exact.
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

/// IEEE binary16. Converts from float to nearest, ties to even; subnormals are kept.
struct Float16 {
  uint16_t bits = 0;  ///< sign, 5 bits of exponent, 10 of mantissa, from the top

  /// 0.
  constexpr Float16() = default;
  /// The nearest one; infinite from 65520 on, a quiet NaN for NaN.
  constexpr explicit Float16(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    const uint32_t sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    uint32_t h;
    if (a >= 0x7f800000u) {
      h = 0x7c00u | (a > 0x7f800000u ? 0x200u : 0u);
    } else if (a >= 0x38800000u) {  // normal in half precision (or overflows to infinity by the
                                    // rounding)
      const uint32_t r = a - 0x38000000u + 0xfffu + ((a >> 13) & 1u);
      h = r >= 0x0f800000u ? 0x7c00u : r >> 13;
    } else {  // subnormal: adding 0.5 lines the mantissa up, and rounds it
      const float shifted = std::bit_cast<float>(a) + 0.5f;
      h = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    }
    bits = static_cast<uint16_t>(sign | h);
  }
  /// The same value; exact.
  constexpr operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t e = (bits >> 10) & 31u, m = bits & 0x3ffu;
    if (e == 31u) return std::bit_cast<float>(sign | 0x7f800000u | (m << 13));
    if (e != 0u) return std::bit_cast<float>(sign | ((e + 112u) << 23) | (m << 13));
    const float tiny = static_cast<float>(m) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(tiny) | sign);
  }
};

/// True for these two.
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

}  // namespace spruce
