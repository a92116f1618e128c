// SPDX-License-Identifier: Apache-2.0
// What primitives that only move elements give, as boxes that stand in larger arrays: a slice is
// one, a roll two, a padded array its inside and the number around it.
#pragma once

#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::fusion {

/// A box of a value whose elements are read out of an array. Vectors are by axis.
struct Piece {
  ValueId of;                    ///< the array
  int64_t offset = 0;            ///< of index 0 in it, in elements; index 0 may lie outside the box
  std::vector<int64_t> strides;  ///< elements from one index to the next; 0 or less is possible
  std::vector<int64_t> begin, end;  ///< the box

  bool spans(size_t axis, int64_t size) const { return begin[axis] == 0 && end[axis] == size; }
};
using Pieces = std::vector<Piece>;

/// slice, concatenate, pad and rev.
bool only_moves(const Primitive& p);

/// By value: true unless all that is done with it is to move it.
std::vector<bool> read_as_computed(const Graph& graph);

/// By value: what it is made of, for inputs, constants and what is moved out of them; empty for
/// other values and for those in too many pieces.
std::vector<Pieces> pieces_of(const Graph& graph, const std::vector<bool>& read_as_computed);

}  // namespace spruce::fusion
