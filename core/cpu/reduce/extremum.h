// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller of two numbers, NaN where one is: what max and min reduce with.
#pragma once

#include <limits>

#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {

// call() selects twice: g++ makes no vectors of nested calls whose one condition is an `or`; nor,
// for AVX2, of conditions joined by || and &&.
struct Largest {
  static constexpr bool kUnsigned = false;
  template <class T>
  static constexpr bool accepts() {
    return true;
  }
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  /// True where b takes the place of a: it is better, or NaN. NaN itself is not replaced.
  template <class T>
  static SPRUCE_INLINE bool better(T a, T b) {
    return (b > a) | ((b != b) & (a == a));
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    const T larger = b > a ? b : a;
    return b != b ? b : larger;
  }
};

/// The same for the smallest element.
struct Smallest {
  static constexpr bool kUnsigned = false;
  template <class T>
  static constexpr bool accepts() {
    return true;
  }
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static SPRUCE_INLINE bool better(T a, T b) {
    return (b < a) | ((b != b) & (a == a));
  }
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    const T smaller = b < a ? b : a;
    return b != b ? b : smaller;
  }
};

}  // namespace spruce::cpu
