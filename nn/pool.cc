// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pool.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"

namespace spruce::nn {
namespace {

struct Windows {
  Shape kernel, stride, padding, dilation, extra;  // extra: further padding behind, for ceil_mode
};

Windows windows_of(const char* op, int rank, const Array& x, const WindowArg& kernel,
                   const WindowArg& stride, const WindowArg& padding, const WindowArg& dilation,
                   bool ceil_mode) {
  if (x.rank() != rank + 1 && x.rank() != rank + 2) {
    throw ShapeError(std::string(op) + ": takes f[n, c, " + std::to_string(rank) +
                     " sizes] or f[c, ...], got " + to_string(x.aval()));
  }
  Windows w;
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
    if (free < 0) {
      throw ShapeError(std::string(op) + ": the window " + to_string(w.kernel) +
                       " is larger than the padded input " + to_string(x.aval()));
    }
    if (ceil_mode) {
      int64_t count = (free + w.stride[i] - 1) / w.stride[i] + 1;
      if ((count - 1) * w.stride[i] >= size + w.padding[i]) --count;  // a window must begin inside
      w.extra[i] = std::max<int64_t>(0, (count - 1) * w.stride[i] - free);
    }
  }
  return w;
}

WindowParams params_of(const Windows& w, int rank, bool padded) {
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

Array max_pool(const char* op, int rank, const Array& x, const WindowArg& kernel,
               const MaxPoolOptions& o) {
  return reduce_window_max(
      x, params_of(windows_of(op, rank, x, kernel, o.stride, o.padding, o.dilation, o.ceil_mode),
                   x.rank(), true));
}

Array avg_pool(const char* op, int rank, const Array& x, const WindowArg& kernel,
               const AvgPoolOptions& o) {
  const Windows w = windows_of(op, rank, x, kernel, o.stride, o.padding, 1, o.ceil_mode);
  const Array total = reduce_window_sum(x, params_of(w, x.rank(), true));
  bool extra = false;
  for (const int64_t e : w.extra) extra = extra || e > 0;
  if (!extra && (o.count_include_pad || w.padding == Shape::filled(rank, 0))) {
    return total / astype(Array(static_cast<float>(w.kernel.numel())), x.dtype());
  }
  // How many elements each window holds: with padding counted, ones over the padded input.
  Shape shape = Shape::filled(x.rank(), 1);
  for (int i = 0; i < rank; ++i) {
    shape[x.rank() - rank + i] =
        x.shape()[x.rank() - rank + i] + (o.count_include_pad ? 2 * w.padding[i] : 0);
  }
  return total /
         reduce_window_sum(ones(shape, x.dtype()), params_of(w, x.rank(), !o.count_include_pad));
}

template <class Layer>
MaxPoolOptions max_options(const Layer& l) {
  return {l.stride, l.padding, l.dilation, l.ceil_mode};
}
template <class Layer>
AvgPoolOptions avg_options(const Layer& l) {
  return {l.stride, l.padding, l.ceil_mode, l.count_include_pad};
}

}  // namespace

Array MaxPool1dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const MaxPoolOptions& options, Loc loc) const {
  const OpScope at("max_pool1d", loc);
  return max_pool("max_pool1d", 1, x, kernel, options);
}
Array MaxPool2dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const MaxPoolOptions& options, Loc loc) const {
  const OpScope at("max_pool2d", loc);
  return max_pool("max_pool2d", 2, x, kernel, options);
}
Array MaxPool3dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const MaxPoolOptions& options, Loc loc) const {
  const OpScope at("max_pool3d", loc);
  return max_pool("max_pool3d", 3, x, kernel, options);
}
Array AvgPool1dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const AvgPoolOptions& options, Loc loc) const {
  const OpScope at("avg_pool1d", loc);
  return avg_pool("avg_pool1d", 1, x, kernel, options);
}
Array AvgPool2dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const AvgPoolOptions& options, Loc loc) const {
  const OpScope at("avg_pool2d", loc);
  return avg_pool("avg_pool2d", 2, x, kernel, options);
}
Array AvgPool3dFunction::operator()(const Array& x, const WindowArg& kernel,
                                    const AvgPoolOptions& options, Loc loc) const {
  const OpScope at("avg_pool3d", loc);
  return avg_pool("avg_pool3d", 3, x, kernel, options);
}

Array MaxPool1d::operator()(const Array& x, Loc loc) const {
  const OpScope at("MaxPool1d", loc);
  return max_pool1d(x, kernel, max_options(*this), loc);
}
Array MaxPool2d::operator()(const Array& x, Loc loc) const {
  const OpScope at("MaxPool2d", loc);
  return max_pool2d(x, kernel, max_options(*this), loc);
}
Array MaxPool3d::operator()(const Array& x, Loc loc) const {
  const OpScope at("MaxPool3d", loc);
  return max_pool3d(x, kernel, max_options(*this), loc);
}
Array AvgPool1d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool1d", loc);
  return avg_pool1d(x, kernel, avg_options(*this), loc);
}
Array AvgPool2d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool2d", loc);
  return avg_pool2d(x, kernel, avg_options(*this), loc);
}
Array AvgPool3d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool3d", loc);
  return avg_pool3d(x, kernel, avg_options(*this), loc);
}

}  // namespace spruce::nn
