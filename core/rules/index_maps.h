// SPDX-License-Identifier: Apache-2.0
// How primitives move elements (Primitive::index_maps).
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::rules {

/// Input 0 as it is.
IndexMap identity_map(const Shape& shape);
/// Axis i of the output is axis perm[i] of the input.
IndexMap transpose_map(const Axes& perm, const Shape& out);
/// Elements start, start + stride, ... of each axis, as many as `out` has.
IndexMap slice_map(const Shape& start, const Shape& stride, const Shape& out);
/// The same elements in row-major order; none where an axis of `out` has elements of several axes
/// of `in`.
std::optional<IndexMap> reshape_map(const Shape& in, const Shape& out);

/// Primitive::index_maps of a primitive whose map follows from its parameters and the shape of its
/// output.
template <IndexMap (*kMap)(const Params&, const Shape&)>
std::vector<IndexMap> one_map(const PrepareArgs& a) {
  return {kMap(a.params, a.out[0]->shape)};
}

/// True for an equation that moves elements and computes nothing.
inline bool only_moves(const Equation& e) { return e.primitive->index_maps != nullptr; }
/// The maps of an equation; none where it does more than to move elements.
std::vector<IndexMap> index_maps_of(const Graph& graph, const Equation& e);
/// True if the map has all elements of an output of that shape, each at its place.
bool covers(const IndexMap& map, const Shape& out);
/// True if it reads fewer elements than an input of that shape has.
bool reads_part(const IndexMap& map, const Shape& in);
/// The same elements in maps that do not meet. None where that would take more than boxes.
std::optional<std::vector<IndexMap>> disjoint(const std::vector<IndexMap>& maps);

/// The elements of a map in memory, in elements from where the array begins.
struct MappedMemory {
  int64_t offset = 0;  ///< of the first one
  Shape strides;       ///< along the axes of the output
};
/// In an input with these strides.
MappedMemory memory_of_input(const IndexMap& map, const Shape& strides);
/// In an output with these strides.
MappedMemory memory_of_output(const IndexMap& map, const Shape& strides);

}  // namespace spruce::rules
