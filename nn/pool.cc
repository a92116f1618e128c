// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/pool.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/pool_windows.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {
namespace {

Array max_pool(const char* op, int rank, const Array& x, const WindowArg& kernel,
               const MaxPoolOptions& o) {
  return reduce_window_max(
      x, internal::window_params(internal::pool_windows(op, rank, x, kernel, o.stride, o.padding,
                                                        o.dilation, o.ceil_mode),
                                 x.rank(), true));
}

Array avg_pool(const char* op, int rank, const Array& x, const WindowArg& kernel,
               const AvgPoolOptions& o) {
  const internal::PoolWindows w =
      internal::pool_windows(op, rank, x, kernel, o.stride, o.padding, 1, o.ceil_mode);
  const Array total =
      reduce_window_sum(internal::wide(x), internal::window_params(w, x.rank(), true));
  const auto over = [&](const Array& size) { return internal::narrow(total / size, x.dtype()); };
  if (o.divisor_override.has_value()) {
    if (*o.divisor_override == 0)
      throw ValueError(std::string(op) + ": divisor_override is 0, it must be another number");
    return over(static_cast<double>(*o.divisor_override));
  }
  bool extra = false;
  for (const int64_t e : w.extra) extra = extra || e > 0;
  if (!extra && (o.count_include_pad || w.padding == Shape::filled(rank, 0))) {
    return over(astype(Array(static_cast<float>(w.kernel.numel())), total.dtype()));
  }
  // How many elements each window holds: with padding counted, ones over the padded input.
  const spruce::internal::SameDevice here(x);
  Shape shape = Shape::filled(x.rank(), 1);
  for (int i = 0; i < rank; ++i) {
    shape[x.rank() - rank + i] =
        x.shape()[x.rank() - rank + i] + (o.count_include_pad ? 2 * w.padding[i] : 0);
  }
  return over(reduce_window_sum(ones(shape, total.dtype()),
                                internal::window_params(w, x.rank(), !o.count_include_pad)));
}

template <class Layer>
MaxPoolOptions max_options(const Layer& l) {
  return {l.stride, l.padding, l.dilation, l.ceil_mode};
}
template <class Layer>
AvgPoolOptions avg_options(const Layer& l) {
  return {l.stride, l.padding, l.ceil_mode, l.count_include_pad, l.divisor_override};
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
  return internal::observed(*this, "MaxPool1d", max_pool1d(x, kernel, max_options(*this), loc));
}
Array MaxPool2d::operator()(const Array& x, Loc loc) const {
  const OpScope at("MaxPool2d", loc);
  return internal::observed(*this, "MaxPool2d", max_pool2d(x, kernel, max_options(*this), loc));
}
Array MaxPool3d::operator()(const Array& x, Loc loc) const {
  const OpScope at("MaxPool3d", loc);
  return internal::observed(*this, "MaxPool3d", max_pool3d(x, kernel, max_options(*this), loc));
}
Array AvgPool1d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool1d", loc);
  return internal::observed(*this, "AvgPool1d", avg_pool1d(x, kernel, avg_options(*this), loc));
}
Array AvgPool2d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool2d", loc);
  return internal::observed(*this, "AvgPool2d", avg_pool2d(x, kernel, avg_options(*this), loc));
}
Array AvgPool3d::operator()(const Array& x, Loc loc) const {
  const OpScope at("AvgPool3d", loc);
  return internal::observed(*this, "AvgPool3d", avg_pool3d(x, kernel, avg_options(*this), loc));
}

}  // namespace spruce::nn
