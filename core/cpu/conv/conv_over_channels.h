// SPDX-License-Identifier: Apache-2.0
// Convolutions of many features, which stand side by side in the lanes: those of the output, or for
// the gradient of the window those of the input.
#pragma once

#include "spruce/core/cpu/conv/conv.h"

namespace spruce::cpu {

/// The convolution, where it is one that gains by this. False, and nothing done, for others. An
/// element has the same bits for any number of threads, and among any number of samples but in the
/// gradient of the window, which is their sum.
bool conv_over_channels(const ConvPlan& c, const float* lhs, const float* rhs, float* out);
/// Bytes of workspace that it takes on one thread, 0 where it does nothing.
size_t conv_over_channels_workspace(const ConvPlan& c);

}  // namespace spruce::cpu
