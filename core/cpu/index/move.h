// SPDX-License-Identifier: Apache-2.0
// Elements moved as an index map says.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Copies the elements of `from` that the map has to their places in `to`.
void move_elements(const IndexMap& map, const View& from, const View& to);

}  // namespace spruce::cpu
