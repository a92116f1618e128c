// SPDX-License-Identifier: Apache-2.0
// Equations that run as one: what passes make of parts of a graph.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// The equations of a group, whose inputs and outputs are those of the equation.
struct GroupParams {
  GraphPtr body;  ///< not null
};

/// The two groups. fused runs elementwise primitives, broadcast_in_dim, iota, reshapes that move
/// axes of size 1, and reductions as loops; tiny runs equations over arrays of a few elements as
/// straight-line code.
extern const Primitive fused_p, tiny_p;

namespace rules {

/// The body of a group; null for other equations.
inline GraphPtr group_body(const Equation& e) {
  if (e.primitive->kind != PrimitiveKind::kGroup) return nullptr;
  return e.params.get<GroupParams>().body;
}

/// The types of what a group gives. Throws GraphError and ShapeError for other inputs than those of
/// the body.
std::vector<Aval> group_shapes(const ShapeArgs& a);
/// A group in operations: what its equations do, one after the other.
std::vector<Array> group_expand(std::span<const Array> in, const Params& params);

}  // namespace rules
}  // namespace spruce
