// SPDX-License-Identifier: Apache-2.0
// The text of a graph whose larger constants stand elsewhere: for files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// As Graph::text(true), but a constant of more than 16 elements is written as {@3} and stands at
/// place 3 of `constants`, in the memory of the CPU; each array once, in the order of the text. The
/// user's line stands behind each equation: "b: f32[2] = sin a // train.cc:42".
std::string graph_text(const Graph& graph, std::vector<Array>& constants);

/// The constant {@number} of that type.
using ConstantSource = std::function<Array(int64_t number, const Aval& type)>;

/// Reads what graph_text wrote, and checks it. Throws GraphError.
Graph parse_graph(std::string_view text, const ConstantSource& constants);

}  // namespace spruce::internal
