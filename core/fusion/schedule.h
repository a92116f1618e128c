// SPDX-License-Identifier: Apache-2.0
// Which loop nest computes which part of a fused graph.
#pragma once

#include "spruce/core/fusion/space.h"

namespace spruce::fusion {

/// A loop nest: rows of elements along its last axis, and for each row what elementwise operations
/// and reductions of that row give.
struct Phase {
  AxisSet axes = 0;
  std::vector<int> equations;  ///< in order

  /// The axis along which rows run; -1 for a nest over nothing.
  int inner() const { return axes == 0 ? -1 : 31 - __builtin_clz(axes); }
  AxisSet inner_set() const { return axes == 0 ? 0 : AxisSet{1} << inner(); }
  /// The axes outside of the rows.
  Phase outside() const { return {axes & ~inner_set(), {}}; }
};

struct Schedule {
  Space space;
  /// By value: the value that holds its elements; broadcasts and reshapes have none of their own.
  std::vector<ValueId> root;
  /// In the order in which they run; each reads what earlier ones have finished.
  std::vector<Phase> phases;
  /// By equation: its phase, or -1 where it computes nothing (aliases, slices, concatenations, and
  /// iota, which is a constant).
  std::vector<int> phase_of;
  /// By equation: a reduction whose result is there when its phase has ended. Other reductions are
  /// those of one row, whose results the phase goes on with.
  std::vector<bool> cross_block;
  /// By value: the equation that computes it, or -1.
  std::vector<int> producer;

  ValueId root_of(ValueId v) const { return root[static_cast<size_t>(v)]; }
  AxisSet depends(ValueId v) const { return space.depends[static_cast<size_t>(v)]; }
  int phase_of_value(ValueId v) const {
    const int e = producer[static_cast<size_t>(v)];
    return e < 0 ? -1 : phase_of[static_cast<size_t>(e)];
  }
};

/// True if the last three axes of a nest follow each other in all that it computes, so that boxes
/// of the last two can be worked on many at a time: it has no reduction and reads nothing in
/// pieces.
bool has_boxes(const Graph& graph, const Schedule& schedule, const Phase& phase);

/// A schedule of the graph; none where an equation is not fusible or space_of gives none.
std::optional<Schedule> schedule_of(const Graph& graph);

}  // namespace spruce::fusion
