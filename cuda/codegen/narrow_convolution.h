// SPDX-License-Identifier: Apache-2.0
// Convolutions of groups with few output features each, as depthwise ones: a thread, or a block
// where a sum is long, has one place of the output and all features of its group.
#pragma once

#include "spruce/core/rules/conv_plan.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// Whether a convolution is of that kind.
bool is_narrow(const PrepareArgs& args, const ConvPlan& plan);
/// Its kernel.
void narrow_convolution(const PrepareArgs& args, const ConvPlan& plan, Kernels& out);

}  // namespace spruce::cuda
