// SPDX-License-Identifier: Apache-2.0
// The windows of a pooling over the last axes.
#pragma once

#include "spruce/core/ops/conv.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn::internal {

/// Sizes, steps and padding for each spatial axis.
struct PoolWindows {
  Shape kernel, stride, padding, dilation;
  Shape extra;  ///< further padding behind, for ceil_mode
};
/// Resolves the arguments of the pooling `op` over the last `rank` axes of x. Throws ShapeError
/// where they do not fit.
PoolWindows pool_windows(const char* op, int rank, const Array& x, const WindowArg& kernel,
                         const WindowArg& stride, const WindowArg& padding,
                         const WindowArg& dilation, bool ceil_mode);
/// The same for an array of that rank; without `padded`, padding is taken to be in the array.
WindowParams window_params(const PoolWindows& w, int rank, bool padded);
/// The dtype of places in the last `axes` axes of x, flattened: i32 where they fit, else i64.
Dtype place_dtype(const Array& x, int axes);

}  // namespace spruce::nn::internal
