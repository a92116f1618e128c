// SPDX-License-Identifier: Apache-2.0
// Sets of equations of a graph as one equation: what all strategies of the fuser write.
#pragma once

#include <cstdint>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// Of one graph. Sets are the numbers of equations, in order.
class Regions {
 public:
  /// Constants of at most so many elements belong to a body. `graph` has to live as long.
  Regions(const Graph& graph, int64_t constant_elements);

  /// The arrays that a set reads, and those it makes that others read, or the graph gives.
  struct Boundary {
    std::vector<ValueId> inputs, outputs;
  };
  Boundary boundary(const std::vector<size_t>& members);
  /// The function that a set computes.
  Graph body(const std::vector<size_t>& members, const Boundary& boundary);
  /// The set as one equation, in which nothing is computed twice.
  Equation equation(const std::vector<size_t>& members, bool unrolled);

 private:
  const Graph& g_;
  std::vector<const Graph::Constant*> constant_;  // by value: those that belong to a body
  std::vector<int32_t> readers_;                  // by value: equations, and the graph itself
  // Of the set at hand, by value.
  uint32_t stamp_ = 0;
  std::vector<uint32_t> met_;    // the last stamp
  std::vector<int32_t> inside_;  // readers
  std::vector<ValueId> renamed_;
};

}  // namespace spruce::passes
