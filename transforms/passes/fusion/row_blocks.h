// SPDX-License-Identifier: Apache-2.0
// What the pass `row_blocks` takes to pay.
#pragma once

#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {

/// Sizes in bytes unless they say otherwise.
struct RowBlockLimits {
  int64_t block = 3 << 19;  ///< that an equation works on of a block, at most
  int64_t large = 1 << 19;  ///< of an array that does not stay in the caches by itself
  int64_t least = 4 << 20;  ///< trips to memory that are worth a loop
  double again = 8;         ///< such trips for each byte of a product's right operand, which all
                            ///< blocks but the first read and arrange again
  double escaping = 2;      ///< such trips for each byte of results that others read: they drive
                            ///< blocks from the cache
  int64_t rows = 2;         ///< of a block, at least
  int64_t blocks = 4;       ///< at least
  int64_t equations = 2;    ///< of a group, at least
};

/// The pass with other limits.
Graph row_blocks(Graph graph, const RowBlockLimits& limits);

}  // namespace spruce::passes
