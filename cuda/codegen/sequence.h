// SPDX-License-Identifier: Apache-2.0
// The equations of a graph one after the other, as the kernels of one equation.
#pragma once

#include "spruce/core/graph/graph.h"
#include "spruce/cuda/codegen/expression.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The steps of all equations of `body`, whose inputs and outputs are those of `args`; values
/// between them stand in the workspace. Sets `known` to false where one of them has no kernels.
Kernels sequence(const PrepareArgs& args, const Graph& body, bool& known);

/// The address of a place.
Argument argument_of(const Place& place);

}  // namespace spruce::cuda
