// SPDX-License-Identifier: Apache-2.0
// Pooling over windows.
#pragma once

#include "spruce/nn/factory.h"
#include "spruce/nn/window_arg.h"

namespace spruce::nn {

struct MaxPoolOptions {
  WindowArg stride = Shape{};  ///< empty: the size of the window
  WindowArg padding = 0;       ///< at most half of the window
  WindowArg dilation = 1;
  bool ceil_mode = false;  ///< windows may begin inside and end outside
};
/// The largest element of each window over the last 1, 2 or 3 axes of f[n, c, d...] or f[c, d...].
/// Grad: to the first largest element. Throws ShapeError.
Array max_pool1d(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                 Loc loc = Loc::current());
Array max_pool2d(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                 Loc loc = Loc::current());
Array max_pool3d(const Array& x, const WindowArg& kernel, const MaxPoolOptions& options = {},
                 Loc loc = Loc::current());

struct AvgPoolOptions {
  WindowArg stride = Shape{};
  WindowArg padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< whether padding counts in the divisor
};
/// The mean of each window.
Array avg_pool1d(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                 Loc loc = Loc::current());
Array avg_pool2d(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                 Loc loc = Loc::current());
Array avg_pool3d(const Array& x, const WindowArg& kernel, const AvgPoolOptions& options = {},
                 Loc loc = Loc::current());

/// max_pool2d as a layer without parameters.
struct MaxPool2d {
  int64_t kernel = 2;
  int64_t stride = 0;  ///< 0: the size of the window
  int64_t padding = 0;
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};
/// avg_pool2d as a layer without parameters.
struct AvgPool2d {
  int64_t kernel = 2;
  int64_t stride = 0;
  int64_t padding = 0;
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
