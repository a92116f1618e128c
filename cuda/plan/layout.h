// SPDX-License-Identifier: Apache-2.0
// Where the values of a graph stand while it runs on a device: which of them share memory, and the
// offsets of the others in one block.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::cuda {

/// The memory of one value.
struct ValuePlace {
  enum class Where : uint8_t { kNone, kInput, kOutput, kConstant, kArena };
  Where where = Where::kNone;
  size_t index = 0;   ///< of the input, output or constant
  size_t offset = 0;  ///< in the arena
};

struct Layout {
  std::vector<ValuePlace> values;      ///< by ValueId
  std::vector<size_t> workspaces;      ///< by equation: offset in the arena
  std::vector<size_t> copied_outputs;  ///< outputs that no equation writes: copied at the end
  size_t arena_bytes = 0;
};

/// The layout of a graph whose equations need `workspace_bytes` bytes besides, one an equation.
Layout make_layout(const Graph& graph, const std::vector<int64_t>& workspace_bytes);

}  // namespace spruce::cuda
