// SPDX-License-Identifier: Apache-2.0
// Convolutions of few features and long rows (filters of images, stencils, signals): the lanes are
// neighbouring cells of a row of the output.
#pragma once

#include "spruce/core/cpu/conv/conv.h"

namespace spruce::cpu {

/// The convolution, where it is one that gains by this. False, and nothing done, for others. An
/// element has the same bits for any number of threads and among any number of samples.
bool conv_over_cells(const ConvPlan& c, const float* lhs, const float* rhs, float* out);
/// Bytes of workspace that it takes on one thread, 0 where it does nothing.
size_t conv_over_cells_workspace(const ConvPlan& c);

}  // namespace spruce::cpu
