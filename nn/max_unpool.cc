// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/max_unpool.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"
#include "spruce/core/rules/window.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/pool_windows.h"
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn {
namespace {

template <int kAxes>
constexpr const char* kPoolName = internal::axes_name<kAxes>("max_pool1d_with_indices",
                                                             "max_pool2d_with_indices",
                                                             "max_pool3d_with_indices");
template <int kAxes>
constexpr const char* kUnpoolName = internal::axes_name<kAxes>("max_unpool1d", "max_unpool2d",
                                                               "max_unpool3d");

int64_t spatial_size(const Array& x, int axes) {
  int64_t n = 1;
  for (int i = x.rank() - axes; i < x.rank(); ++i) n *= x.shape()[i];
  return n;
}

// Which tap of each window is the largest -> its place in the flattened spatial axes of x.
Array places_of(const Array& taps, const internal::PoolWindows& w, const Array& x) {
  const int axes = w.kernel.rank(), lead = x.rank() - axes;
  const Dtype dtype = internal::place_dtype(x, axes);
  Array rest = astype(taps, dtype), places;
  int64_t stride = 1;
  for (int i = axes - 1; i >= 0; --i) {
    Shape along = Shape::filled(axes, 1);
    along[i] = taps.shape()[lead + i];
    const Array starts = reshape(arange(along[i], dtype) * w.stride[i] - w.padding[i], along);
    const Array at = (starts + rest % w.kernel[i] * w.dilation[i]) * stride;
    places = places.defined() ? places + at : at;
    rest = floor_divide(rest, w.kernel[i]);
    stride *= x.shape()[lead + i];
  }
  return where(taps < 0, -1, places);
}

Array unpooled(const char* op, int axes, const Array& x, const Array& indices,
               const WindowArg& kernel, const MaxUnpoolOptions& o) {
  spruce::internal::require_defined(op, "x", x, "indices", indices);
  internal::require_spatial_axes(op, axes, x);
  if (!(indices.shape() == x.shape())) {
    throw ShapeError(std::string(op) + ": x is " + to_string(x.aval()) + ", the indices are " +
                     to_string(indices.aval()) + "; they must have one shape");
  }
  if (!is_integer(indices.dtype())) {
    throw DtypeError(std::string(op) + ": indices must be integers, got " +
                     to_string(indices.aval()));
  }
  const Shape k = kernel.resolve(op, "kernel", axes, 1),
              stride = o.stride.empty() ? k : o.stride.resolve(op, "stride", axes, 1),
              padding = o.padding.resolve(op, "padding", axes, 0);
  const int lead = x.rank() - axes;
  Shape sizes;
  for (int i = 0; i < axes; ++i) {
    const int64_t size = (x.shape()[lead + i] - 1) * stride[i] - 2 * padding[i] + k[i];
    if (size < 0) {
      throw ShapeError(std::string(op) + ": padding " + to_string(padding) +
                       " is too large for x " + to_string(x.aval()));
    }
    sizes.push_back(size);
  }
  if (!o.output_size.empty()) sizes = o.output_size.resolve(op, "output_size", axes, 0);
  check_shape(op, sizes, size_of(x.dtype()));
  const int64_t places = sizes.numel(), within = spatial_size(x, axes);
  check_known(indices,
              {op, "the indices hold place",
               "the result has places 0.." + std::to_string(places - 1), places, x.dtype()});
  int64_t rows = 1;
  Shape shape;
  for (int i = 0; i < lead; ++i) {
    rows *= x.shape()[i];
    shape.push_back(x.shape()[i]);
  }
  for (const int64_t n : sizes) shape.push_back(n);
  // A place that is not known to be outside is left out, a negative one too.
  Array index = widened(indices, places);
  if (!has_known_values(index)) index = where(index < 0, places, index);
  const Array flat = put_along_axis(zeros({rows, places}, x.dtype()),
                                    reshape(index, {rows, within}), reshape(x, {rows, within}), 1);
  return reshape(flat, shape);
}

}  // namespace

template <int kAxes>
MaxPoolResult MaxPoolWithIndicesFunction<kAxes>::operator()(const Array& x, const WindowArg& kernel,
                                                            const MaxPoolOptions& o,
                                                            Loc loc) const {
  const OpScope at(kPoolName<kAxes>, loc);
  const spruce::internal::SameDevice here(x);
  spruce::internal::require_defined(kPoolName<kAxes>, "x", x);
  const internal::PoolWindows w = internal::pool_windows(
      kPoolName<kAxes>, kAxes, x, kernel, o.stride, o.padding, o.dilation, o.ceil_mode);
  const WindowParams p = internal::window_params(w, x.rank(), true);
  const Array taps = bind1(window_argmax_p, {x}, Params::make(p));
  return {reduce_window_max(x, p), places_of(taps, w, x)};
}

template <int kAxes>
Array MaxUnpoolFunction<kAxes>::operator()(const Array& x, const Array& indices,
                                           const WindowArg& kernel, const MaxUnpoolOptions& o,
                                           Loc loc) const {
  const OpScope at(kUnpoolName<kAxes>, loc);
  const spruce::internal::SameDevice here(x);
  return unpooled(kUnpoolName<kAxes>, kAxes, x, indices, kernel, o);
}

template struct MaxPoolWithIndicesFunction<1>;
template struct MaxPoolWithIndicesFunction<2>;
template struct MaxPoolWithIndicesFunction<3>;
template struct MaxUnpoolFunction<1>;
template struct MaxUnpoolFunction<2>;
template struct MaxUnpoolFunction<3>;

}  // namespace spruce::nn
