// SPDX-License-Identifier: Apache-2.0
// Elements moved as an index map says.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Copies the elements of `from` that the map has to their places in `to`.
void move_elements(const IndexMap& map, const View& from, const View& to);

/// The kernel of a primitive whose map follows from its parameters and the shape of its output.
template <IndexMap (*kMap)(const Params&, const Shape&)>
void move_kernel(const KernelArgs& a) {
  move_elements(kMap(a.params, a.out[0].shape()), a.in[0], a.out[0]);
}

}  // namespace spruce::cpu
