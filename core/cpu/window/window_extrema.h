// SPDX-License-Identifier: Apache-2.0
// The largest and the smallest element of a window; NaN wins.
#pragma once

#include <limits>

#include "spruce/core/cpu/targets.h"

namespace spruce::cpu::window {

struct Max {
  template <class T>
  static constexpr T kNothing = std::numeric_limits<T>::has_infinity
                                    ? -std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::lowest();
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return better(x, a) ? x : a;
  }
  template <class T>
  static SPRUCE_INLINE bool better(T x, T a) {
    return (x > a) | ((x != x) & (a == a));
  }
};

struct Min {
  template <class T>
  static constexpr T kNothing = std::numeric_limits<T>::has_infinity
                                    ? std::numeric_limits<T>::infinity()
                                    : std::numeric_limits<T>::max();
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return better(x, a) ? x : a;
  }
  template <class T>
  static SPRUCE_INLINE bool better(T x, T a) {
    return (x < a) | ((x != x) & (a == a));
  }
};

}  // namespace spruce::cpu::window
