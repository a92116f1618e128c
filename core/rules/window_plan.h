// SPDX-License-Identifier: Apache-2.0
// Windows over an array as the numbers that kernels go by.
#pragma once

#include "spruce/core/rules/conv_params.h"
#include "spruce/core/shape.h"

namespace spruce {

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

}  // namespace spruce
