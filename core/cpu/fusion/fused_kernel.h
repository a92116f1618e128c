// SPDX-License-Identifier: Apache-2.0
// The kernel of a fused graph.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::cpu {

/// A kernel that computes the outputs of `body`, a graph of fusible equations, from its inputs.
/// Bodies without a schedule of loop nests run one equation after the other.
std::unique_ptr<const PreparedKernel> fused_kernel(const GraphPtr& body);

}  // namespace spruce::cpu
