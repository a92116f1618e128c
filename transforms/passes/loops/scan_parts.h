// SPDX-License-Identifier: Apache-2.0
// A scan equation taken apart, for the passes over scans.
#pragma once

#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::passes {

/// The parts of a scan: of each input and output the value outside and the one in the body.
struct ScanParts {
  /// A value that comes in or goes out.
  struct Operand {
    ValueId outside;  ///< in the graph around the scan
    ValueId inside;   ///< in the body
  };
  /// A value that one step hands to the next.
  struct Carry {
    ValueId init, before, after, last;  // outside, inside, inside, outside
  };

  ScanParams params;            // without the body
  Graph body;                   // its inputs and outputs are those below
  std::vector<Operand> consts;  ///< inputs that are the same in each step
  std::vector<Operand> xs;      ///< inputs of which each step takes a slice
  std::vector<Operand> ys;      ///< outputs of which each step gives a slice
  std::vector<Carry> carry;     ///< in the order of the inputs
  std::string place;            ///< of the scan, as in Equation

  /// Takes an equation of scan_p apart.
  explicit ScanParts(const Equation& e);
  /// The equation of these parts.
  Equation equation() const;
  /// Puts one value of the body in the place of another: where it is read, and as a result.
  void replace(ValueId old, ValueId by);

  /// All false.
  std::vector<uint8_t> marks() const { return std::vector<uint8_t>(body.avals.size(), 0); }
};

/// The graph around a scan: what stands in the place of its values, and which are needed.
struct Outside {
  std::vector<ValueId>& renamed;     ///< by the old number: the value in its place
  const std::vector<uint8_t>& used;  ///< by the old number: whether anything needs it
};

/// The graph with each scan changed by `pass`, in it and in the bodies of its loops and branches;
/// `whole` is that function on graphs. Scans with effects stay as they are.
Graph rewrite_scans(Graph graph, void (*pass)(ScanParts&, Outside&), Graph (*whole)(Graph));

}  // namespace spruce::passes
