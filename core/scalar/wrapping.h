// SPDX-License-Identifier: Apache-2.0
// Sums and products of all dtypes: integers wrap around, of bool they are `or` and `and`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "spruce/core/scalar/inline.h"

namespace spruce::scalar {

/// a + b.
template <class T>
SPRUCE_INLINE T wrapping_add(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

/// a * b.
template <class T>
SPRUCE_INLINE T wrapping_multiply(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

}  // namespace spruce::scalar
