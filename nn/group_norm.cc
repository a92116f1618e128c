// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/group_norm.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

namespace {

void check_channels(const char* op, const Array& x, const char* name, const Array& v) {
  if (v.defined() && !(v.shape() == Shape{x.shape()[1]})) {
    throw ShapeError(std::string(op) + ": x is " + to_string(x.aval()) + ", so " + name +
                     " must be f[" + std::to_string(x.shape()[1]) + "]; got " +
                     to_string(v.aval()));
  }
}

// y weight + bias, channel by channel.
Array scaled(const Array& y, const Array& weight, const Array& bias) {
  Shape shape = Shape::filled(y.rank() - 1, 1);
  shape[0] = y.shape()[1];
  Array out = y;
  if (weight.defined()) out = out * reshape(weight, shape);
  if (bias.defined()) out = out + reshape(bias, shape);
  return out.dtype() == y.dtype() ? out : astype(out, y.dtype());
}

}  // namespace

Array GroupNormFunction::operator()(const Array& x, int64_t num_groups, const Array& weight,
                                    const Array& bias, const GroupNormOptions& o, Loc loc) const {
  const OpScope at("group_norm", loc);
  spruce::internal::require_defined("group_norm", "x", x);
  if (x.rank() < 2) throw ShapeError("group_norm: takes f[n, c, ...], got " + to_string(x.aval()));
  const int64_t n = x.shape()[0], channels = x.shape()[1];
  if (num_groups < 1 || channels % num_groups != 0) {
    throw ShapeError("group_norm: the " + std::to_string(channels) + " channels of " +
                     to_string(x.aval()) + " cannot be cut into " + std::to_string(num_groups) +
                     " equal groups");
  }
  check_channels("group_norm", x, "weight", weight);
  check_channels("group_norm", x, "bias", bias);
  const int64_t each = n == 0 ? 0 : x.size() / (n * num_groups);
  const Array y = layer_norm(reshape(x, {n, num_groups, each}), {each}, {}, {}, {.eps = o.eps});
  return scaled(reshape(y, x.shape()), weight, bias);
}

BatchNormResult InstanceNormFunction::operator()(const Array& x, const Array& running_mean,
                                                 const Array& running_var, const Array& weight,
                                                 const Array& bias, const InstanceNormOptions& o,
                                                 Loc loc) const {
  const OpScope at("instance_norm", loc);
  spruce::internal::require_defined("instance_norm", "x", x);
  if (x.rank() < 3)
    throw ShapeError("instance_norm: takes f[n, c, d...], got " + to_string(x.aval()));
  check_channels("instance_norm", x, "running_mean", running_mean);
  check_channels("instance_norm", x, "running_var", running_var);
  check_channels("instance_norm", x, "weight", weight);
  check_channels("instance_norm", x, "bias", bias);
  const int64_t n = x.shape()[0], channels = x.shape()[1];
  // The channels of all examples are those of one batch.
  Shape joined = x.shape();
  joined[0] = 1;
  joined[1] = n * channels;
  const auto each = [&](const Array& v) { return v.defined() ? tile(v, {n}) : v; };
  const auto of_channels = [&](const Array& v, const Array& before) {
    return v.defined() && o.use_input_stats && n > 0 ? mean(reshape(v, {n, channels}), 0) : before;
  };
  BatchNormResult r =
      batch_norm(reshape(x, joined), each(running_mean), each(running_var), {}, {},
                 {.training = o.use_input_stats, .momentum = o.momentum, .eps = o.eps});
  return {scaled(reshape(r.output, x.shape()), weight, bias),
          of_channels(r.running_mean, running_mean), of_channels(r.running_var, running_var)};
}

GroupNorm GroupNorm::init(int64_t num_groups, int64_t num_channels, const NormLayerOptions& o,
                          Loc loc) {
  const OpScope at("GroupNorm::init", loc);
  const internal::InitPlace place(o.device);
  check_range("GroupNorm::init", "eps", o.eps, Range::kNotNegative);
  if (num_groups < 1 || num_channels % num_groups != 0) {
    throw ShapeError("GroupNorm::init: " + std::to_string(num_channels) +
                     " channels cannot be cut into " + std::to_string(num_groups) +
                     " equal groups");
  }
  GroupNorm layer;
  layer.num_groups = num_groups;
  layer.eps = o.eps;
  if (o.affine) {
    layer.weight = ones({num_channels}, o.dtype);
    layer.bias = zeros({num_channels}, o.dtype);
  }
  return layer;
}

Array GroupNorm::operator()(const Array& x, Loc loc) const {
  const OpScope at("GroupNorm", loc);
  internal::require_made("GroupNorm", weight);
  return internal::observed(
      *this, "GroupNorm",
      group_norm(x, num_groups, weight.value_or(Array()), bias.value_or(Array()), {.eps = eps}));
}

namespace {

template <int kAxes>
constexpr const char* kInstanceNorm = internal::axes_name<kAxes>("InstanceNorm1d", "InstanceNorm2d",
                                                                 "InstanceNorm3d");

}  // namespace

template <int kAxes>
InstanceNorm<kAxes> InstanceNorm<kAxes>::init(int64_t n, const InstanceNormLayerOptions& o,
                                              Loc loc) {
  const OpScope at(kInstanceNorm<kAxes>, loc);
  const internal::InitPlace place(o.device);
  check_range(kInstanceNorm<kAxes>, "eps", o.eps, Range::kNotNegative);
  check_range(kInstanceNorm<kAxes>, "momentum", o.momentum, Range::kShare);
  InstanceNorm layer;
  layer.eps = o.eps;
  layer.momentum = o.momentum;
  if (o.affine) {
    layer.weight = ones({n}, o.dtype);
    layer.bias = zeros({n}, o.dtype);
  }
  if (o.track_running_stats) {
    layer.running_mean = Buffer{zeros({n}, o.dtype)};
    layer.running_var = Buffer{ones({n}, o.dtype)};
    layer.num_batches_tracked = Buffer{zeros({}, int64)};
  }
  return layer;
}

template <int kAxes>
Array InstanceNorm<kAxes>::operator()(const Array& x, Loc loc) const {
  Context evaluation;
  return (*this)(x, evaluation, loc);
}

template <int kAxes>
Array InstanceNorm<kAxes>::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at(kInstanceNorm<kAxes>, loc);
  internal::require_made(kInstanceNorm<kAxes>, weight);
  internal::require_spatial_axes(kInstanceNorm<kAxes>, kAxes, x);
  const bool single = x.rank() == kAxes + 1;
  const bool tracked = running_mean.has_value() && running_var.has_value();
  const Array m = tracked ? ctx.latest(*running_mean) : Array(),
              v = tracked ? ctx.latest(*running_var) : Array();
  const BatchNormResult r = instance_norm(
      single ? expand_dims(x, 0) : x, m, v, weight.value_or(Array()), bias.value_or(Array()),
      {.use_input_stats = ctx.training || !tracked, .momentum = momentum, .eps = eps});
  if (tracked && ctx.training) {
    ctx.update(*running_mean, r.running_mean);
    ctx.update(*running_var, r.running_var);
  }
  return internal::observed(*this, kInstanceNorm<kAxes>, single ? squeeze(r.output, 0) : r.output);
}

template struct InstanceNorm<1>;
template struct InstanceNorm<2>;
template struct InstanceNorm<3>;

}  // namespace spruce::nn
