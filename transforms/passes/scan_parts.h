// SPDX-License-Identifier: Apache-2.0
// A scan equation taken apart, for the passes over scans.
#pragma once

#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/transforms/control/primitives.h"

namespace spruce::passes {

/// The parts of a scan: of each input and output the value outside and the one in the body.
struct ScanParts {
  struct Operand {
    ValueId outside;
    ValueId inside;
  };
  struct Carry {
    ValueId init, before, after, last;  // outside, inside, inside, outside
  };

  ScanParams params;  // without the body
  Graph body;         // its inputs and outputs are those below
  std::vector<Operand> consts, xs, ys;
  std::vector<Carry> carry;
  std::string place;

  explicit ScanParts(const Equation& e);
  Equation equation() const;
  /// Puts one value of the body in the place of another: where it is read, and as a result.
  void replace(ValueId old, ValueId by);

  /// All false.
  std::vector<uint8_t> marks() const { return std::vector<uint8_t>(body.avals.size(), 0); }
};

/// The graph around a scan: what stands in the place of its values, and which are needed.
struct Outside {
  std::vector<ValueId>& renamed;
  const std::vector<uint8_t>& used;
};

/// The graph with each scan changed by `pass`, in it and in the bodies of its loops and branches;
/// `whole` is that function on graphs.
Graph rewrite_scans(const Graph& graph, void (*pass)(ScanParts&, Outside&),
                    Graph (*whole)(const Graph&));

}  // namespace spruce::passes
