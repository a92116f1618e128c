// SPDX-License-Identifier: Apache-2.0
// Runs a graph on concrete arrays: in order, letting go of each value after its last use so that
// its memory is reused.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

class Executor {
 public:
  /// `source` is what transforms differentiate and map; `graph` is what is run, with the same
  /// meaning.
  Executor(Graph source, Graph graph);

  const Graph& source() const { return source_; }
  /// `args` have the types of the inputs; what only this vector holds may be overwritten. Safe to
  /// call concurrently.
  std::vector<Array> run(std::vector<Array> args) const;

 private:
  Graph source_;
  Graph graph_;
  std::vector<uint8_t> last_use_;  // for each input of each equation, one after the other: nobody
                                   // needs it afterwards
  std::vector<uint8_t> used_;      // for each value
};

}  // namespace spruce::internal
