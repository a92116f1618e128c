// SPDX-License-Identifier: Apache-2.0
// SPRUCE_LOG=graphs: on stderr the graph after each pass that changed it.
#pragma once

#include <string>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// True if the variable SPRUCE_LOG holds that word, which is known.
bool log_holds(const char* word);

/// Where SPRUCE_LOG holds the word "graphs": writes the graph that `pass` made, unless its text is
/// `before`, and returns its text.
std::string log_graph(const char* pass, const Graph& graph, std::string before);

}  // namespace spruce::internal
