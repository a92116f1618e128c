// SPDX-License-Identifier: Apache-2.0
// The iteration space of a fused graph: the axes of all its values, brought together. Axes that
// meet in an operation are one; neighbours that all values have or lack together are merged.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "spruce/core/fusion/pieces.h"
#include "spruce/core/rules/gather.h"

namespace spruce::fusion {

/// A set of axes of the space, one bit each; bit 0 is the outermost.
using AxisSet = uint32_t;
inline constexpr int kMostAxes = 32;

struct Space {
  /// Where a value stands in a larger array: a slice in an input or a constant of the graph, which
  /// is read there, an operand of a concatenation in an output, which is written there.
  struct Part {
    ValueId of;                    ///< the larger array
    int64_t offset = 0;            ///< elements before its first one
    std::vector<int64_t> strides;  ///< elements from one index to the next, by axis; 0 for others
  };

  std::vector<int64_t> sizes;     ///< of the merged axes, outermost first
  std::vector<AxisSet> shape;     ///< by value: the axes that its shape has
  std::vector<AxisSet> depends;   ///< by value: those along which its elements differ; broadcasts
                                  ///< add none
  std::vector<AxisSet> reduced;   ///< by equation: what a reduction takes away, else empty
  std::map<ValueId, Part> parts;  ///< along their last axis elements are neighbours
  std::vector<bool> whole;        ///< by value: an array that gathers read, and nothing else
  /// What is read but does not stand anywhere as a whole, such as a roll. By axis of the space;
  /// along axes that a value does not have, its pieces have stride 0 and all of the axis.
  std::map<ValueId, Pieces> pieces;

  int64_t numel(AxisSet axes) const {
    int64_t n = 1;
    for (size_t i = 0; i < sizes.size(); ++i) n *= (axes >> i & 1) != 0 ? sizes[i] : 1;
    return n;
  }
  /// Elements in memory from one index of the axis to the next; 0 where the value is the same
  /// along it.
  int64_t stride(ValueId v, int axis) const {
    const AxisSet layout = depends[static_cast<size_t>(v)];
    if (axis < 0 || (layout >> axis & 1) == 0) return 0;
    const auto part = parts.find(v);
    if (part != parts.end()) return part->second.strides[static_cast<size_t>(axis)];
    return numel(layout & ~((AxisSet{2} << axis) - 1));
  }
  /// True if parts or pieces stand in v.
  bool has_parts(ValueId v) const;
  /// True if the axis has more than `most` elements, and some value along it has to be put
  /// together.
  bool in_pieces_along(int axis, int64_t most) const;
  /// True if the rows of a part along two axes do not follow each other.
  bool has_gaps(int row, int inner) const;
};

/// What the executor takes part in: elementwise primitives, reductions it knows,
/// broadcast_in_dim, iota, slice, concatenate, pad, rev, reshapes that only move axes of size 1,
/// and gathers of single elements of 32 bits out of an array with one axis.
bool fusible(const Primitive& p, const Params& params, Avals in, const Aval& out);

/// True for such a gather of `x` at `indices`.
bool reads_elements(const GatherParams& p, const Aval& x, const Aval& indices);

/// The space of a graph of fusible equations. None where it is too odd to be worth a loop nest of
/// its own: a value with the same axis twice, axes in two orders, sizes of 0, a reduction over an
/// axis along which nothing differs, a slice, a padding or a reversal of what the graph computes, a
/// concatenation of such results and inputs, or one of results that is anything but an output, a
/// gather of what the graph computes or reads in another way too.
std::optional<Space> space_of(const Graph& graph);

}  // namespace spruce::fusion
