// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/conv_transpose.h"

#include <algorithm>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/conv_parts.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {
namespace {

template <int kAxes>
constexpr const char* kFunctionName = internal::axes_name<kAxes>("conv_transpose1d",
                                                                 "conv_transpose2d",
                                                                 "conv_transpose3d");
template <int kAxes>
constexpr const char* kLayerName = internal::axes_name<kAxes>("ConvTranspose1d", "ConvTranspose2d",
                                                              "ConvTranspose3d");

// As a convolution of the input with zeros between its elements.
ConvParams params_of(const char* op, const Shape& kernel, const ConvTransposeOptions& o) {
  const int axes = kernel.rank();
  const Shape padding = o.padding.resolve(op, "padding", axes, 0),
              more = o.output_padding.resolve(op, "output_padding", axes, 0);
  ConvParams p;
  p.lhs_dilation = o.stride.resolve(op, "stride", axes, 1);
  p.rhs_dilation = o.dilation.resolve(op, "dilation", axes, 1);
  p.rhs_swapped = p.reversed = true;
  p.feature_group_count = o.groups;
  if (o.groups < 1) {
    throw ShapeError(std::string(op) + ": groups is " + std::to_string(o.groups) +
                     ", it must be at least 1");
  }
  for (int i = 0; i < axes; ++i) {
    if (more[i] >= std::max(p.lhs_dilation[i], p.rhs_dilation[i])) {
      throw ShapeError(std::string(op) + ": output_padding " + to_string(more) +
                       " must be smaller than stride " + to_string(p.lhs_dilation) +
                       " or dilation " + to_string(p.rhs_dilation));
    }
    const int64_t reach = p.rhs_dilation[i] * (kernel[i] - 1);
    p.padding_low.push_back(reach - padding[i]);
    p.padding_high.push_back(reach - padding[i] + more[i]);
  }
  return p;
}

Array run(const char* op, int axes, const Array& x, const Array& weight, const Array& bias,
          const ConvTransposeOptions& o) {
  spruce::internal::require_defined(op, "x", x, "weight", weight);
  const bool single = x.rank() == axes + 1;
  const bool fits = weight.rank() == axes + 2 && (single || x.rank() == axes + 2) &&
                    x.shape()[single ? 0 : 1] == weight.shape()[0] && o.groups > 0 &&
                    weight.shape()[0] % o.groups == 0;
  if (!fits) {
    throw ShapeError(
        std::string(op) + ": x " + to_string(x.aval()) + " and weight " + to_string(weight.aval()) +
        " with groups " + std::to_string(o.groups) + " do not fit: x must be f[n, in, " +
        internal::spatial_names(axes) +
        "], weight f[in, out / groups, ...] with in divisible by groups" +
        (weight.rank() == axes + 2 ? internal::channels_clash(axes, x, weight.shape()[0], 1) : ""));
  }
  const int64_t out = weight.shape()[1] * o.groups;
  internal::check_bias(op, weight, bias, out);
  Shape kernel;
  for (int i = 2; i < weight.rank(); ++i) kernel.push_back(weight.shape()[i]);
  const ConvParams p = params_of(op, kernel, o);
  for (int i = 0; i < axes; ++i) {
    const int64_t size = (x.shape()[x.rank() - axes + i] - 1) * p.lhs_dilation[i] + 1 +
                         p.padding_low[i] + p.padding_high[i] - p.rhs_dilation[i] * (kernel[i] - 1);
    if (size < 1) {
      throw ShapeError(std::string(op) + ": padding takes away all of the output of x " +
                       to_string(x.aval()) + " and weight " + to_string(weight.aval()));
    }
  }
  const Array y = conv_general(single ? expand_dims(x, 0) : x, weight, p);
  return internal::with_bias(y, bias, axes, single);
}

}  // namespace

template <int kAxes>
Array ConvTransposeFunction<kAxes>::operator()(const Array& x, const Array& weight,
                                               const Array& bias, const ConvTransposeOptions& o,
                                               Loc loc) const {
  const OpScope at(kFunctionName<kAxes>, loc);
  return run(kFunctionName<kAxes>, kAxes, x, weight, bias, o);
}

template <int kAxes>
ConvTranspose<kAxes> ConvTranspose<kAxes>::init(const Key& given, int64_t in, int64_t out,
                                                const WindowArg& kernel_arg,
                                                const ConvTransposeLayerOptions& o, Loc loc) {
  const char* op = kLayerName<kAxes>;
  const OpScope at(op, loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  const Shape kernel = kernel_arg.resolve(op, "kernel", kAxes, 1);
  params_of(op, kernel, {o.stride, o.padding, o.output_padding, o.groups, o.dilation});
  internal::check_channels(op, in, out, o.groups);
  internal::Weights made =
      internal::init_weights(key, in, out / o.groups, kernel, out, o.bias, o.dtype, o.init);
  ConvTranspose layer;
  layer.weight = std::move(made.weight);
  layer.bias = std::move(made.bias);
  layer.stride = o.stride;
  layer.padding = o.padding;
  layer.output_padding = o.output_padding;
  layer.groups = o.groups;
  layer.dilation = o.dilation;
  return layer;
}

template <int kAxes>
Array ConvTranspose<kAxes>::operator()(const Array& x, Loc loc) const {
  const OpScope at(kLayerName<kAxes>, loc);
  internal::require_made(kLayerName<kAxes>, weight);
  const Array y = run(kLayerName<kAxes>, kAxes, x, weight, bias.value_or(Array()),
                      {stride, padding, output_padding, groups, dilation});
  return internal::observed(*this, kLayerName<kAxes>, y, [&] {
    return x.size() / std::max<int64_t>(weight.shape(0), 1) * weight.size();
  });
}

template struct ConvTransposeFunction<1>;
template struct ConvTransposeFunction<2>;
template struct ConvTransposeFunction<3>;
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;

}  // namespace spruce::nn
