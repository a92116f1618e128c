// SPDX-License-Identifier: Apache-2.0
// A graph as the kernels of its equations, one after the other.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::cpu {

/// Each value has its own part of the workspace. The equations have kernels or are views.
std::unique_ptr<const PreparedKernel> plain_kernel(const GraphPtr& body);

}  // namespace spruce::cpu
