// SPDX-License-Identifier: Apache-2.0
// Elements as unsigned integers that compare as the elements do: -0 equals 0, and all NaN are equal
// and the largest.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "spruce/core/cpu/targets.h"
#include "spruce/core/dtype.h"

namespace spruce::cpu {

/// u32 for elements of up to four bytes, u64 for the others.
template <class T>
using OrderedKey = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

template <class T>
SPRUCE_INLINE OrderedKey<T> ordered_key(T x) {
  using Key = OrderedKey<T>;
  constexpr Key kSign = Key{1} << (sizeof(Key) * 8 - 1);
  if constexpr (kIsHalf<T>) {
    return ordered_key(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~Key{0};
    const Key bits = std::bit_cast<Key>(x + T{0});  // + 0 makes -0 to 0
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(x)) ^ kSign;
  } else {
    return static_cast<Key>(x);
  }
}

}  // namespace spruce::cpu
