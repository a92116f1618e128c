// SPDX-License-Identifier: Apache-2.0
// The passes that make of a staged graph the graph that is run.
#pragma once

#include <cstdint>
#include <span>

#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {

/// One pass. Its name stands in tests and in logs of compile times.
struct Pass {
  enum Need : uint8_t {
    kOptional,  ///< SPRUCE_PASSES=-name switches it off
    kNeeded,    ///< others, or the kernels, rely on it
  };

  const char* name;  ///< lives as long as the program
  /// A graph with the same meaning.
  Graph (*run)(Graph);
  Need need = kOptional;
};

/// All passes, in the order in which they run.
std::span<const Pass> pipeline();

/// A graph with the same meaning that is cheaper to run: all passes in order, but for those that
/// the variable SPRUCE_PASSES switches off. Debug builds check the graph after each.
Graph optimize(Graph graph);

}  // namespace spruce::passes
