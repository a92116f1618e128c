// SPDX-License-Identifier: Apache-2.0
// The kernel of a group of equations.
#pragma once

#include "spruce/core/rules/group.h"

namespace spruce::cpu {

/// A kernel that computes the outputs of the group from its inputs: straight-line code, or loop
/// nests. Where neither can be made, its equations run one after the other.
std::unique_ptr<const PreparedKernel> fused_kernel(const GroupParams& group);

}  // namespace spruce::cpu
