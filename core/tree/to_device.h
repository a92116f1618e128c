// SPDX-License-Identifier: Apache-2.0
// Moving trees of arrays between devices.
#pragma once

#include "spruce/core/ops/to_device.h"
#include "spruce/core/tree/tree.h"

namespace spruce {

/// The tree with all of its arrays, keys and buffers on `device`; those that are there already are
/// shared. Undefined arrays stay undefined: to_device(model, gpu).
template <class T>
requires(!std::is_convertible_v<const T&, Array>) T
    to_device(const T& tree, Device& device, Loc loc = Loc::current()) {
  T out = tree;
  tree::internal::for_each_leaf(out, [&](Array& leaf, tree::Leaf) {
    if (leaf.defined()) leaf = to_device(leaf, device, loc);
  });
  return out;
}

}  // namespace spruce
