// SPDX-License-Identifier: Apache-2.0
// Moving trees of arrays between devices.
#pragma once

#include "spruce/core/ops/to_device.h"
#include "spruce/core/tree/tree.h"

namespace spruce {

template <class T>
requires(!std::is_convertible_v<const T&, Array>) T ToDeviceFunction::operator()(const T& tree,
                                                                                 Device& device,
                                                                                 Loc loc) const {
  T out = tree;
  tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf) {
    if (leaf.defined()) leaf = (*this)(leaf, device, loc);
  });
  return out;
}

}  // namespace spruce
