// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/fractional_max_pool.h"

#include <cmath>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/rules/gather.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/pool_windows.h"
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn {
namespace {

Shape output_of(const char* op, int axes, const Array& x, const Shape& kernel,
                const FractionalMaxPoolOptions& o) {
  std::vector<double> ratios = o.output_ratio.values();
  if (o.output_size.empty() == ratios.empty())
    throw ValueError(std::string(op) + ": give one of output_size and output_ratio");
  Shape out;
  if (ratios.empty()) {
    out = o.output_size.resolve(op, "output_size", axes, 1);
  } else {
    if (ratios.size() == 1) ratios.assign(static_cast<size_t>(axes), ratios[0]);
    if (ratios.size() != static_cast<size_t>(axes))
      throw ShapeError(std::string(op) + ": output_ratio has " + std::to_string(ratios.size()) +
                       " entries, " + std::to_string(axes) + " are needed");
    for (int i = 0; i < axes; ++i) {
      const double ratio = ratios[static_cast<size_t>(i)];
      if (!(ratio > 0 && ratio < 1))
        throw ValueError(std::string(op) + ": output_ratio must be between 0 and 1");
      out.push_back(
          static_cast<int64_t>(static_cast<double>(x.shape()[x.rank() - axes + i]) * ratio));
    }
  }
  for (int i = 0; i < axes; ++i) {
    const int64_t in = x.shape()[x.rank() - axes + i];
    if (out[i] < 1 || out[i] + kernel[i] - 1 > in) {
      throw ShapeError(std::string(op) + ": " + to_string(out) + " windows of " +
                       to_string(kernel) + " do not fit into x " + to_string(x.aval()));
    }
  }
  return out;
}

// i[planes, out, kernel]: the elements of each window of one axis.
Array elements_of(const Array& sample, int64_t in, int64_t out, int64_t kernel) {
  Array starts;
  const Array last = full({sample.shape()[0], 1}, in - kernel, int32);
  if (out > 1) {
    const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    const Array at = expand_dims(sample, 1);
    const Array steps = trunc((arange(out - 1, sample.dtype()) + at) * step) - trunc(at * step);
    starts = concatenate({astype(steps, int32), last}, 1);
  } else {
    starts = last;
  }
  return expand_dims(starts, 2) + arange(kernel, int32);
}

MaxPoolResult pooled(const char* op, int axes, const Array& x, const WindowArg& kernel_arg,
                     const FractionalMaxPoolOptions& o) {
  spruce::internal::require_defined(op, "x", x);
  const spruce::internal::SameDevice here(x);
  internal::require_spatial_axes(op, axes, x);
  const Shape kernel = kernel_arg.resolve(op, "kernel", axes, 1),
              out = output_of(op, axes, x, kernel, o);
  Shape lead;
  for (int i = 0; i + axes < x.rank(); ++i) lead.push_back(x.shape()[i]);
  const int64_t planes = lead.numel();
  const Shape wanted = lead.rank() == 2 ? Shape{lead[0], lead[1], axes} : Shape{1, lead[0], axes};
  Array samples = o.random_samples;
  if (!samples.defined()) {
    if (!o.key.defined())
      throw ValueError(std::string(op) + ": needs a key; give one as {.key = key}");
    const Dtype dtype = x.dtype() == float64 ? float64 : float32;
    samples = random::uniform(random::internal::key_beside(o.key, x), wanted, {.dtype = dtype});
  }
  if (!(samples.shape() == wanted))
    throw ShapeError(std::string(op) + ": random_samples must be f" + to_string(wanted) + ", got " +
                     to_string(samples.aval()));
  samples = reshape(samples, {planes, axes});
  // Flat places i[planes, out..., kernel...], axis by axis. PyTorch's samples of two axes are the
  // other way round.
  Array places = zeros({}, internal::place_dtype(x, axes));
  int64_t stride = 1;
  for (int i = axes - 1; i >= 0; --i) {
    const int64_t in = x.shape()[x.rank() - axes + i];
    const Array elements =
        elements_of(samples[{slice(), axes == 2 ? 1 - i : i}], in, out[i], kernel[i]);
    Shape along = Shape::filled(1 + 2 * axes, 1);
    along[0] = planes;
    along[1 + i] = out[i];
    along[1 + axes + i] = kernel[i];
    places = places + reshape(elements, along) * stride;
    stride *= in;
  }
  const int64_t windows = out.numel(), each = kernel.numel();
  places = reshape(places, {planes, windows * each});
  const Array taken =
      reshape(rules::take_along(reshape(x, {planes, stride}), places, 1), {planes, windows, each});
  const Array which = argmax(taken, -1, {.keepdims = true});
  Shape shape = lead;
  for (const int64_t n : out) shape.push_back(n);
  return {reshape(rules::take_along(taken, which, 2), shape),
          reshape(rules::take_along(reshape(places, {planes, windows, each}), which, 2), shape)};
}

}  // namespace

template <int kAxes>
MaxPoolResult FractionalMaxPoolWithIndicesFunction<kAxes>::operator()(
    const Array& x, const WindowArg& kernel, const FractionalMaxPoolOptions& o, Loc loc) const {
  const char* op = internal::axes_name<kAxes>("", "fractional_max_pool2d_with_indices",
                                              "fractional_max_pool3d_with_indices");
  const OpScope at(op, loc);
  return pooled(op, kAxes, x, kernel, o);
}

template <int kAxes>
Array FractionalMaxPoolFunction<kAxes>::operator()(const Array& x, const WindowArg& kernel,
                                                   const FractionalMaxPoolOptions& o,
                                                   Loc loc) const {
  const char* op = internal::axes_name<kAxes>("", "fractional_max_pool2d", "fractional_max_pool3d");
  const OpScope at(op, loc);
  return pooled(op, kAxes, x, kernel, o).output;
}

template struct FractionalMaxPoolWithIndicesFunction<2>;
template struct FractionalMaxPoolWithIndicesFunction<3>;
template struct FractionalMaxPoolFunction<2>;
template struct FractionalMaxPoolFunction<3>;

}  // namespace spruce::nn
