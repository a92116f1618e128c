// SPDX-License-Identifier: Apache-2.0
// Equations that only move elements: where each element of the result comes from.
#pragma once

#include <optional>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::cpu::x64 {

/// Element `element` of input `input`, in row-major order.
struct Origin {
  int input;
  int64_t element;
};

/// Nullopt for an equation that does more, or that reads places from arrays.
std::optional<std::vector<Origin>> origins(const Graph& graph, const Equation& equation);

/// For each element of an array of shape `to`, the element of one of shape `from` that broadcasting
/// puts there.
std::vector<int64_t> broadcast_elements(const Shape& from, const Shape& to);

/// Calls f with the index of each element of the shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, F f) {
  Shape index = Shape::filled(shape.rank(), 0);
  for (int64_t n = shape.numel(); n > 0; --n) {
    f(static_cast<const Shape&>(index));
    for (int axis = shape.rank() - 1; axis >= 0 && ++index[axis] == shape[axis]; --axis)
      index[axis] = 0;
  }
}

/// The place in row-major order.
inline int64_t place(const Shape& shape, const Shape& index) {
  int64_t at = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) at = at * shape[axis] + index[axis];
  return at;
}

}  // namespace spruce::cpu::x64
