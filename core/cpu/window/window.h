// SPDX-License-Identifier: Apache-2.0
// Reductions over windows on the CPU.
#pragma once

#include "spruce/core/cpu/with_workspace.h"
#include "spruce/core/rules/window.h"

namespace spruce::cpu {

/// Windows over an array whose leading axes have been merged where a window holds one element of
/// them.
struct WindowPlan {
  struct Axis {
    int64_t in, out, window, stride, low, dilation, window_dilation,
        step;  // step: of the input, in elements
    /// From the first place of a window to its last.
    int64_t reach() const { return (window - 1) * window_dilation; }
  };
  Axis axes[kMaxRank];
  int rank = 0;  // at least 1
  bool plain =
      false;  // the first axis has nothing but windows of one element: its parts are independent

  /// For an input and an output of these shapes.
  WindowPlan(const Shape& in, const Shape& out, const WindowParams& w);
  /// The innermost axis.
  const Axis& last() const { return axes[rank - 1]; }
  /// Lines of outputs along the last axis.
  int64_t rows() const;
  /// Elements of a window.
  int64_t taps() const;
};

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
