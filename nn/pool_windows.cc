// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pool_windows.h"

#include <algorithm>
#include <limits>

#include "spruce/nn/spatial_axes.h"

namespace spruce::nn::internal {

Dtype place_dtype(const Array& x, int axes) {
  int64_t n = 1;
  for (int i = x.rank() - axes; i < x.rank(); ++i) n *= x.shape()[i];
  return n <= std::numeric_limits<int32_t>::max() ? int32 : int64;
}

PoolWindows pool_windows(const char* op, int rank, const Array& x, const WindowArg& kernel,
                         const WindowArg& stride, const WindowArg& padding,
                         const WindowArg& dilation, bool ceil_mode) {
  require_spatial_axes(op, rank, x);
  PoolWindows w;
  w.kernel = kernel.resolve(op, "kernel", rank, 1);
  w.stride = stride.empty() ? w.kernel : stride.resolve(op, "stride", rank, 1);
  w.padding = padding.resolve(op, "padding", rank, 0);
  w.dilation = dilation.resolve(op, "dilation", rank, 1);
  w.extra = Shape::filled(rank, 0);
  for (int i = 0; i < rank; ++i) {
    if (2 * w.padding[i] > w.kernel[i]) {
      throw ShapeError(std::string(op) + ": padding " + to_string(w.padding) +
                       " is more than half of the window " + to_string(w.kernel));
    }
    const int64_t size = x.shape()[x.rank() - rank + i],
                  reach = w.dilation[i] * (w.kernel[i] - 1) + 1;
    const int64_t free = size + 2 * w.padding[i] - reach;
    // How far behind the input windows may end.
    const int64_t behind = ceil_mode && size > 0 ? w.stride[i] - 1 : 0;
    if (free + behind < 0) {
      const std::string dilation =
          reach == w.kernel[i] ? "" : " with dilation " + to_string(w.dilation);
      throw ShapeError(std::string(op) + ": the window " + to_string(w.kernel) + dilation +
                       " is larger than the padded input " + to_string(x.aval()) +
                       (ceil_mode ? " by the stride " + to_string(w.stride) + " or more" : ""));
    }
    if (ceil_mode) {
      int64_t count = (free + behind) / w.stride[i] + 1;
      if ((count - 1) * w.stride[i] >= size + w.padding[i]) --count;  // a window must begin inside
      w.extra[i] = std::max<int64_t>(0, (count - 1) * w.stride[i] - free);
    }
  }
  return w;
}

WindowParams window_params(const PoolWindows& w, int rank, bool padded) {
  WindowParams p;
  const int lead = rank - w.kernel.rank();
  p.window = p.strides = p.window_dilation = p.base_dilation = Shape::filled(rank, 1);
  p.padding_low = p.padding_high = Shape::filled(rank, 0);
  for (int i = 0; i < w.kernel.rank(); ++i) {
    p.window[lead + i] = w.kernel[i];
    p.strides[lead + i] = w.stride[i];
    p.window_dilation[lead + i] = w.dilation[i];
    p.padding_low[lead + i] = padded ? w.padding[i] : 0;
    p.padding_high[lead + i] = (padded ? w.padding[i] : 0) + w.extra[i];
  }
  return p;
}

}  // namespace spruce::nn::internal
