// SPDX-License-Identifier: Apache-2.0
// Pieces of a graph's text.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// a, b, ..., z, a1, b1, ...
std::string value_name(ValueId v);
/// "c: f32[2] = add a b"
std::string equation_text(const Graph& graph, const Equation& e);
/// The same with `none` for nested graphs, and the user's line under it: for pictures and tables.
std::string equation_note(const Graph& graph, const Equation& e);
/// "c: f32[2] = add a b": without parameters.
std::string equation_summary(const Graph& graph, const Equation& e);
/// "{1 2 3}"; "{...}" for more than 16 elements unless `full`.
std::string constant_text(const Array& a, bool full);

}  // namespace spruce::internal
