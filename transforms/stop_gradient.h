// SPDX-License-Identifier: Apache-2.0
// Values without derivatives.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/tree/tree.h"

namespace spruce {

/// x itself, with derivative zero: what follows treats it as a constant.
Array stop_gradient(const Array& x, Loc loc = Loc::current());

/// stop_gradient of each leaf of a tree.
template <class T>
requires(!std::is_convertible_v<const T&, const Array&>) T stop_gradient(const T& x) {
  return tree::map([](const Array& a) { return stop_gradient(a); }, x);
}

}  // namespace spruce
