// SPDX-License-Identifier: Apache-2.0
// Parameters of the fused primitive.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// The equations that run as one: elementwise primitives, broadcast_in_dim, iota, reshapes that
/// move axes of size 1, and reductions. Its inputs and outputs are those of the equation.
struct FusedParams {
  GraphPtr body;  ///< not null
};

/// Made by a pass; any arrays to the outputs of its body.
extern const Primitive fused_p;

}  // namespace spruce
