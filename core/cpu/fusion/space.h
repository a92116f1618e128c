// SPDX-License-Identifier: Apache-2.0
// The iteration space of a fused graph: the axes of all its values, brought together. Axes that
// meet in an operation are one; neighbours that all values have or lack together are merged.
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::cpu {

/// A set of axes of the space, one bit each; bit 0 is the outermost.
using AxisSet = uint32_t;

struct Space {
  std::vector<int64_t> sizes;    ///< of the merged axes, outermost first
  std::vector<AxisSet> shape;    ///< by value: the axes that its shape has
  std::vector<AxisSet> depends;  ///< by value: those along which its elements differ; broadcasts
                                 ///< add none
  std::vector<AxisSet> reduced;  ///< by equation: what a reduction takes away, else empty

  int64_t numel(AxisSet axes) const {
    int64_t n = 1;
    for (size_t i = 0; i < sizes.size(); ++i) n *= (axes >> i & 1) != 0 ? sizes[i] : 1;
    return n;
  }
};

/// What the executor takes part in: elementwise primitives, reductions it knows,
/// broadcast_in_dim, iota, and reshapes that only move axes of size 1.
bool fusible(const Primitive& p, const Params& params, Avals in, const Aval& out);

/// The space of a graph of fusible equations. None where it is too odd to be worth a loop nest of
/// its own: a value with the same axis twice, axes in two orders, sizes of 0, a reduction over an
/// axis along which nothing differs.
std::optional<Space> space_of(const Graph& graph);

}  // namespace spruce::cpu
