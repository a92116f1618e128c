// SPDX-License-Identifier: Apache-2.0
// Equations that run as one: what the fuser makes of parts of a graph.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// The equations of a group, whose inputs and outputs are those of the equation, and how they run.
struct GroupParams {
  /// As straight-line code, over arrays of a few elements. Else as loops: elementwise primitives,
  /// broadcast_in_dim, iota, reductions, and what only moves elements of the inputs.
  bool unrolled = false;
  GraphPtr body;  ///< not null
};

/// A group.
extern const Primitive fused_p;

namespace rules {

/// The body of a group; null for other equations.
inline GraphPtr group_body(const Equation& e) {
  if (e.primitive->kind != PrimitiveKind::kGroup) return nullptr;
  return e.params.get<GroupParams>().body;
}

}  // namespace rules
}  // namespace spruce
