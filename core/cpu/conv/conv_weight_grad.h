// SPDX-License-Identifier: Apache-2.0
// The gradient of the window of a convolution, with the features of the input in the lanes.
#pragma once

#include "spruce/core/cpu/conv/conv.h"

namespace spruce::cpu {

/// True for a convolution of this form.
bool is_weight_grad(const ConvPlan& c);
/// The convolution, where is_weight_grad(c). False, and nothing done, where others are faster. The
/// result does not depend on the number of threads.
bool conv_weight_grad(const ConvPlan& c, const float* lhs, const float* rhs, float* out);
/// Bytes of workspace that it takes on one thread, 0 where it does nothing.
size_t conv_weight_grad_workspace(const ConvPlan& c);

}  // namespace spruce::cpu
