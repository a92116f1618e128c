// SPDX-License-Identifier: Apache-2.0
// What loops need not do at each step, for the passes that move it in front of them.
#pragma once

#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// True for what costs nothing where it is read: it may stay in a loop, though no step changes it.
bool is_free_in_loops(const Equation& e);

/// Computes values of a loop's body in the graph around it: those that are `wanted` and what these
/// need, all of which constants of the loop determine. `outer` says, by value of the body, what it
/// is outside, kNone where that is not known yet; it gains what is computed.
void move_out(Graph& out, const Graph& body, std::vector<uint8_t> wanted,
              std::vector<ValueId>& outer);

}  // namespace spruce::passes
