// SPDX-License-Identifier: Apache-2.0
// Reductions over windows on the CPU.
#pragma once

#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/rules/window.h"
#include "spruce/core/rules/window_plan.h"

namespace spruce::cpu {

/// The kernel of reduce_window_sum.
void window_sum_kernel(const KernelArgs& args);
/// The kernel of reduce_window_max.
void window_max_kernel(const KernelArgs& args);
/// The kernel of reduce_window_min.
void window_min_kernel(const KernelArgs& args);
/// The kernel of window_argmax.
void window_argmax_kernel(const KernelArgs& args);
/// The kernel of window_argmin.
void window_argmin_kernel(const KernelArgs& args);
/// The kernel of window_gather.
void window_gather_kernel(const KernelArgs& args);
/// The kernel of window_scatter_add.
void window_scatter_add_kernel(const KernelArgs& args);

/// Bytes of workspace that these take: the sum, max and min; argmax and argmin; the others.
size_t window_reduce_workspace(const PrepareArgs& args);
size_t window_arg_reduce_workspace(const PrepareArgs& args);
size_t window_gather_workspace(const PrepareArgs& args);
size_t window_scatter_add_workspace(const PrepareArgs& args);

}  // namespace spruce::cpu
