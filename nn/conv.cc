// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/conv.h"

#include <cctype>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/conv_parts.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {

Shape WindowArg::resolve(const char* op, const char* what, int rank, int64_t least,
                         const char* each) const {
  Shape out = single_ ? Shape::filled(rank, values_[0]) : values_;
  if (out.rank() != rank) {
    throw ShapeError(std::string(op) + ": " + what + " has " + std::to_string(out.rank()) +
                     " entries, " + std::to_string(rank) + " are needed, " + each);
  }
  constexpr int64_t kMost = int64_t{1} << 31;  // products of two of them fit into i64
  for (const int64_t v : out) {
    if (v < least) {
      throw ShapeError(std::string(op) + ": " + what + " is " + to_string(out) +
                       "; entries must be at least " + std::to_string(least));
    }
    if (v > kMost || v < -kMost) {
      throw ShapeError(std::string(op) + ": " + what + " is " + to_string(out) +
                       "; entries must be at most " + std::to_string(kMost));
    }
  }
  return out;
}

namespace {

internal::ConvConfig config_of(const char* op, int rank, const Shape& kernel,
                               const WindowArg& stride, const PaddingArg& padding,
                               const WindowArg& dilation, int64_t groups) {
  internal::ConvConfig c;
  c.stride = stride.resolve(op, "stride", rank, 1);
  c.dilation = dilation.resolve(op, "dilation", rank, 1);
  c.groups = groups;
  if (groups < 1)
    throw ShapeError(std::string(op) + ": groups is " + std::to_string(groups) +
                     ", it must be at least 1");
  if (padding.name().empty() || padding.name() == "valid") {
    c.padding_low = c.padding_high = padding.values().resolve(op, "padding", rank, 0);
    return c;
  }
  if (padding.name() != "same") {
    throw ValueError(std::string(op) + ": padding '" + padding.name() +
                     "' is none of 'same', 'valid'; or give numbers");
  }
  c.padding_low = c.padding_high = Shape::filled(rank, 0);
  for (int i = 0; i < rank; ++i) {
    if (c.stride[i] != 1)
      throw ValueError(std::string(op) + ": padding 'same' needs stride 1, got " +
                       to_string(c.stride));
    const int64_t total = c.dilation[i] * (kernel[i] - 1);
    c.padding_low[i] = total / 2;
    c.padding_high[i] = total - total / 2;
  }
  return c;
}

Array functional(const char* op, int rank, const Array& x, const Array& weight, const Array& bias,
                 const ConvOptions& o) {
  if (weight.rank() != rank + 2) {
    throw ShapeError(std::string(op) + ": weight must be f[out, in / groups, " +
                     std::to_string(rank) + " window sizes], got " + to_string(weight.aval()));
  }
  Shape kernel;
  for (int i = 2; i < weight.rank(); ++i) kernel.push_back(weight.shape()[i]);
  return internal::run_conv(op, x, weight, bias,
                            config_of(op, rank, kernel, o.stride, o.padding, o.dilation, o.groups));
}

}  // namespace

namespace internal {

Array run_conv(const char* op, const Array& x, const Array& weight, const Array& bias,
               const ConvConfig& c) {
  spruce::internal::require_defined(op, "x", x, "weight", weight);
  if (weight.rank() < 3) {
    throw ShapeError(std::string(op) + ": weight must be f[out, in / groups, window sizes], got " +
                     to_string(weight.aval()) +
                     init_hint(weight, std::isupper(op[0]) != 0 ? op : "Conv"));
  }
  const int rank = weight.rank() - 2;
  const bool single = x.rank() == rank + 1;
  if ((!single && x.rank() != rank + 2) || x.shape()[single ? 0 : 1] % c.groups != 0 ||
      x.shape()[single ? 0 : 1] / c.groups != weight.shape()[1] ||
      weight.shape()[0] % c.groups != 0) {
    throw ShapeError(std::string(op) + ": x " + to_string(x.aval()) + " and weight " +
                     to_string(weight.aval()) + " with groups " + std::to_string(c.groups) +
                     " do not fit: x must be f[n, in, " + spatial_names(rank) +
                     "], weight f[out, in / groups, ...] with out divisible by groups" +
                     channels_clash(rank, x, weight.shape()[1], c.groups));
  }
  check_bias(op, weight, bias, weight.shape()[0]);
  for (int i = 0; i < rank; ++i) {
    const int64_t size = x.shape()[x.rank() - rank + i], window = weight.shape()[2 + i];
    if (c.dilation[i] * (window - 1) >= size + c.padding_low[i] + c.padding_high[i]) {
      throw ShapeError(std::string(op) + ": the window of weight " + to_string(weight.aval()) +
                       " with dilation " + to_string(c.dilation) +
                       " is larger than the padded input " + to_string(x.aval()));
    }
  }
  ConvParams p;
  p.strides = c.stride;
  const bool zeros = c.padding_mode == PaddingMode::kZeros;
  if (zeros) {
    p.padding_low = c.padding_low;
    p.padding_high = c.padding_high;
  }
  const Array wide = zeros ? x : padded(op, x, c.padding_low, c.padding_high, c.padding_mode, 0);
  p.rhs_dilation = c.dilation;
  p.feature_group_count = c.groups;
  const Array y = conv_general(single ? expand_dims(wide, 0) : wide, weight, p);
  return with_bias(y, bias, rank, single);
}

ConvParts init_conv(const char* op, int rank, const Key& key, int64_t in, int64_t out,
                    const WindowArg& kernel_arg, const ConvLayerOptions& o) {
  const Shape kernel = kernel_arg.resolve(op, "kernel", rank, 1);
  ConvParts parts;
  parts.config = config_of(op, rank, kernel, o.stride, o.padding, o.dilation, o.groups);
  parts.config.padding_mode = o.padding_mode;
  check_channels(op, in, out, o.groups);
  Weights made = init_weights(key, out, in / o.groups, kernel, out, o.bias, o.dtype, o.init);
  parts.weight = std::move(made.weight);
  parts.bias = std::move(made.bias);
  return parts;
}

}  // namespace internal

Array Conv1dFunction::operator()(const Array& x, const Array& weight, const Array& bias,
                                 const ConvOptions& options, Loc loc) const {
  const OpScope at("conv1d", loc);
  return functional("conv1d", 1, x, weight, bias, options);
}
Array Conv2dFunction::operator()(const Array& x, const Array& weight, const Array& bias,
                                 const ConvOptions& options, Loc loc) const {
  const OpScope at("conv2d", loc);
  return functional("conv2d", 2, x, weight, bias, options);
}
Array Conv3dFunction::operator()(const Array& x, const Array& weight, const Array& bias,
                                 const ConvOptions& options, Loc loc) const {
  const OpScope at("conv3d", loc);
  return functional("conv3d", 3, x, weight, bias, options);
}

Conv1d Conv1d::init(const Key& given, int64_t in, int64_t out, const WindowArg& kernel,
                    const ConvLayerOptions& options, Loc loc) {
  const OpScope at("Conv1d::init", loc);
  const internal::InitPlace place(options.device, given);
  const Key& key = place.key();
  internal::ConvParts p = internal::init_conv("Conv1d", 1, key, in, out, kernel, options);
  return {std::move(p.weight), std::move(p.bias), p.config};
}
namespace {

// Each element of the output takes one kernel.
template <class Layer>
Array observed_conv(const Layer& layer, const char* type, const Array& x) {
  const Array y =
      internal::run_conv(type, x, layer.weight, layer.bias.value_or(Array()), layer.config);
  return internal::observed(layer, type, y, [&] {
    return y.size() / std::max<int64_t>(layer.weight.shape(0), 1) * layer.weight.size();
  });
}

}  // namespace

Array Conv1d::operator()(const Array& x, Loc loc) const {
  const OpScope at("Conv1d", loc);
  return observed_conv(*this, "Conv1d", x);
}
Conv2d Conv2d::init(const Key& given, int64_t in, int64_t out, const WindowArg& kernel,
                    const ConvLayerOptions& options, Loc loc) {
  const OpScope at("Conv2d::init", loc);
  const internal::InitPlace place(options.device, given);
  const Key& key = place.key();
  internal::ConvParts p = internal::init_conv("Conv2d", 2, key, in, out, kernel, options);
  return {std::move(p.weight), std::move(p.bias), p.config};
}
Array Conv2d::operator()(const Array& x, Loc loc) const {
  const OpScope at("Conv2d", loc);
  return observed_conv(*this, "Conv2d", x);
}

Conv3d Conv3d::init(const Key& given, int64_t in, int64_t out, const WindowArg& kernel,
                    const ConvLayerOptions& options, Loc loc) {
  const OpScope at("Conv3d::init", loc);
  const internal::InitPlace place(options.device, given);
  const Key& key = place.key();
  internal::ConvParts p = internal::init_conv("Conv3d", 3, key, in, out, kernel, options);
  return {std::move(p.weight), std::move(p.bias), p.config};
}
Array Conv3d::operator()(const Array& x, Loc loc) const {
  const OpScope at("Conv3d", loc);
  return observed_conv(*this, "Conv3d", x);
}

}  // namespace spruce::nn
