// SPDX-License-Identifier: Apache-2.0
// Pictures of a graph: Graphviz's language, and a page that needs nothing else to be looked at.
#pragma once

#include <string>

#include "spruce/core/graph/graph.h"

namespace spruce {

/// The graph in Graphviz's language (`dot -Tsvg`): ellipses for inputs, constants and outputs,
/// boxes for equations, clusters for nested graphs, types at the edges. The tooltip of an equation
/// has its parameters and the user's line.
std::string to_dot(const Graph& graph);

/// A page of HTML with the graph as a drawing, laid out here: no scripts, nothing that is loaded
/// from elsewhere. Nested graphs are boxes within their equation; pointing at an equation or at an
/// edge shows types, parameters and the user's line. `title` stands above it.
std::string to_html(const Graph& graph, const std::string& title = "graph");

}  // namespace spruce
