// SPDX-License-Identifier: Apache-2.0
// Convolutions of few features, which leave most lanes of a kernel that puts features side by side
// empty: here the lanes are samples, groups (as in the gradient of the window for each sample), or
// the samples that the gradient of the window sums over.
#pragma once

#include "spruce/core/cpu/conv/conv.h"

namespace spruce::cpu {

/// The convolution, where it is one that gains by this. False, and nothing done, for others. The
/// result does not depend on the number of threads.
bool conv_over_batch(const ConvPlan& c, const float* lhs, const float* rhs, float* out);
/// Bytes of workspace that it takes on one thread, 0 where it does nothing.
size_t conv_over_batch_workspace(const ConvPlan& c);

}  // namespace spruce::cpu
