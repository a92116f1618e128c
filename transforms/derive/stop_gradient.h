// SPDX-License-Identifier: Apache-2.0
// Values without derivatives.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/tree/tree.h"

namespace spruce {

/// x itself, with derivative zero: what follows treats it as a constant.
inline constexpr struct StopGradientFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// stop_gradient of each leaf of a tree.
  template <class T>
  requires(!std::is_convertible_v<const T&, const Array&>) T operator()(const T& x) const {
    return tree::map([this](const Array& a) { return (*this)(a); }, x);
  }
} stop_gradient{};

}  // namespace spruce
