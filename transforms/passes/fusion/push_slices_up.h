// SPDX-License-Identifier: Apache-2.0
// Parts of arrays that a loop can read or write where they stand.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// True if the elements of a slice, or of each operand of a concatenation, stand side by side in
/// the larger array in runs so long that to copy them does not pay.
bool has_long_runs(const Graph& graph, const Equation& e);

}  // namespace spruce::passes
