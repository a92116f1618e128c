// SPDX-License-Identifier: Apache-2.0
// Where the values of a graph stand while it runs on a device: which of them share memory, and the
// offsets of the others in one block.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/rules/layouts.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The memory of one value.
struct ValuePlace {
  enum class Where : uint8_t { kNone, kInput, kOutput, kConstant, kArena };
  Where where = Where::kNone;
  size_t index = 0;   ///< of the input, output or constant
  size_t offset = 0;  ///< in bytes, there or in the arena
};

struct Layout {
  std::vector<ValuePlace> values;      ///< by ValueId
  std::vector<size_t> workspaces;      ///< by equation: offset in the arena
  std::vector<size_t> copied_outputs;  ///< outputs that no equation writes: copied at the end
  std::vector<int64_t> donors;         ///< by output: as Executable::donor()
  size_t arena_bytes = 0;
};

/// What the memory of an equation depends on.
struct EquationMemory {
  int64_t workspace_bytes = 0;    ///< besides its inputs and outputs
  std::vector<InPlace> in_place;  ///< as Kernels::in_place
};

/// The layout of a graph with one of these an equation, in which `strided` says what moves nothing.
/// Output k best takes over the memory of input `first_carried` + k.
Layout make_layout(const Graph& graph, const std::vector<EquationMemory>& equations,
                   const rules::Layouts& strided, size_t first_carried);

}  // namespace spruce::cuda
