// SPDX-License-Identifier: Apache-2.0
// Slices that a loop can read where they stand.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// True if the elements of a slice stand side by side in runs so long that to copy them first does
/// not pay.
bool has_long_runs(const Graph& graph, const Equation& slice);

}  // namespace spruce::passes
