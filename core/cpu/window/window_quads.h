// SPDX-License-Identifier: Apache-2.0
// Windows of 2 x 2 side by side, what nearly all pooling is, in f32, f16 and bf16: a line of
// windows at once.
#pragma once

#include "spruce/core/rules/window.h"

namespace spruce::cpu {

enum class QuadOp { kMax, kMin, kArgMax, kArgMin, kGather, kScatter };

/// The kernel of reduce_window_max and so on, where the arrays and windows are of this form. False,
/// and nothing done, for others.
bool quad_kernel(QuadOp op, const KernelArgs& args, const WindowParams& windows);

}  // namespace spruce::cpu
