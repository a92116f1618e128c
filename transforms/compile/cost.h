// SPDX-License-Identifier: Apache-2.0
// What a graph costs to run, by its types alone: operations, and bytes that have to be moved if
// each equation reads its inputs and writes its outputs once.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce {

/// Operations and bytes.
struct Cost {
  double flops = 0;  ///< arithmetic operations; a multiplication with an addition is two, exp one
  double bytes_read = 0;     ///< of inputs
  double bytes_written = 0;  ///< of results

  /// Both together.
  Cost& operator+=(const Cost& o) {
    flops += o.flops, bytes_read += o.bytes_read, bytes_written += o.bytes_written;
    return *this;
  }
  /// So many times.
  friend Cost operator*(double times, Cost c) {
    c.flops *= times, c.bytes_read *= times, c.bytes_written *= times;
    return c;
  }
};

/// The cost of each equation of a graph, in order, and of all together.
struct CostAnalysis {
  /// One equation.
  struct Row {
    std::string equation;  ///< "c: f32[64,10] = dot_general", nested graphs left out
    std::string place;     ///< "train.cc:42", where it is known
    Cost cost;             ///< of one run of the graph
  };
  std::vector<Row> rows;  ///< in the order of the graph
  Cost total;             ///< of all rows

  /// A table: the most expensive equations first, by operations, then by bytes; no more than `most`
  /// of them, and the totals.
  std::string text(size_t most = 40) const;
};

/// Prints text().
std::ostream& operator<<(std::ostream& out, const CostAnalysis& analysis);

/// Counts what a checked graph takes. Nested graphs count as often as they run: the body of a scan
/// `length` times, of a cond the dearest branch, condition and body of a while_loop once (how often
/// they run is not known). Fused equations move their own inputs and outputs only; views move
/// nothing; slices and gathers read what they take.
CostAnalysis analyze_cost(const Graph& graph);

}  // namespace spruce
