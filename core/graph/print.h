// SPDX-License-Identifier: Apache-2.0
// Pieces of a graph's text.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// a, b, ..., z, a1, b1, ...
std::string value_name(ValueId v);
/// "c: f32[2] = add a b"
std::string equation_text(const Graph& graph, const Equation& e);

}  // namespace spruce::internal
