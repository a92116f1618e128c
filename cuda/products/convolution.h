// SPDX-License-Identifier: Apache-2.0
// Convolutions as products of the windows with a matrix of the elements that they lie on, by
// cuBLASLt. The matrix is written piece by piece, or is lhs itself for windows of one element.
#pragma once

#include <optional>

#include "spruce/core/rules/conv_plan.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The kernels. Nothing where cuBLASLt has no such product, or for too many groups.
std::optional<Kernels> library_convolution(const PrepareArgs& args, const ConvPlan& plan);

}  // namespace spruce::cuda
