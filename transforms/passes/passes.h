// SPDX-License-Identifier: Apache-2.0
// Passes over graphs. Each takes a checked graph and returns a checked graph with the same meaning.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// Replaces calls of functions with their own derivative rules by their bodies: the rules are of no
/// use any more.
Graph inline_calls(const Graph& graph);
/// Takes out equations, constants and values that no output depends on.
Graph dead_code(const Graph& graph);
/// Computes what is computed twice once: equations with equal primitives, parameters and inputs.
Graph common_subexpressions(const Graph& graph);

}  // namespace spruce::passes
