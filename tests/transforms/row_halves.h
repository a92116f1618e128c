// SPDX-License-Identifier: Apache-2.0
// Blocks of rows forced on graphs of any size.
#pragma once

#include "spruce/transforms/passes/fusion/row_blocks.h"

namespace spruce {

/// The graph in which groups of at least so many equations that can run in blocks do, in two.
inline Graph row_halves(const Graph& graph, int64_t equations) {
  return passes::row_blocks(graph, {.block = int64_t{1} << 40,
                                    .large = 1,
                                    .least = 0,
                                    .again = 0,
                                    .escaping = 0,
                                    .rows = 2,
                                    .blocks = 2,
                                    .equations = equations});
}

}  // namespace spruce
