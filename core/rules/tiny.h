// SPDX-License-Identifier: Apache-2.0
// Parameters of the primitive tiny.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce {

/// Equations over arrays of a few elements that run as one. Its inputs and outputs are those of the
/// equation.
struct TinyParams {
  GraphPtr body;  ///< not null
};

/// Made by a pass; any arrays to the outputs of its body.
extern const Primitive tiny_p;

}  // namespace spruce
