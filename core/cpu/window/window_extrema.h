// SPDX-License-Identifier: Apache-2.0
// The largest and the smallest element of a window; of several NaNs the first.
#pragma once

#include "spruce/core/cpu/reduce/extremum.h"

namespace spruce::cpu::window {

template <class Order>
struct Extremum {
  template <class T>
  static constexpr T kNothing = Order::template identity<T>();
  template <class T>
  static SPRUCE_INLINE T call(T a, T x) {
    return better(x, a) ? x : a;
  }
  /// Whether x takes the place of a.
  template <class T>
  static SPRUCE_INLINE bool better(T x, T a) {
    return Order::better(a, x);
  }
};

using Max = Extremum<Largest>;
using Min = Extremum<Smallest>;

}  // namespace spruce::cpu::window
