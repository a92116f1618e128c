// SPDX-License-Identifier: Apache-2.0
// The passes that make of a staged graph the graph that is run.
#pragma once

#include <span>

#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {

/// One pass. Its name stands in tests and in logs of compile times.
struct Pass {
  const char* name;  ///< lives as long as the program
  /// A graph with the same meaning.
  Graph (*run)(const Graph&);
};

/// All passes, in the order in which they run.
std::span<const Pass> pipeline();

/// A graph with the same meaning that is cheaper to run: all passes in order. Debug builds check
/// the graph after each.
Graph optimize(const Graph& graph);

}  // namespace spruce::passes
