// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/norm.h"

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/deviations.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/layer_norm.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

Array LayerNormFunction::operator()(const Array& x, const Shape& normalized, const Array& weight,
                                    const Array& bias, const LayerNormOptions& o, Loc loc) const {
  const OpScope at("layer_norm", loc);
  const spruce::internal::SameDevice here(x);
  check_range("layer_norm", "eps", o.eps, Range::kNotNegative);
  const int lead = x.rank() - normalized.rank();
  bool fits = normalized.rank() > 0 && lead >= 0;
  for (int i = 0; fits && i < normalized.rank(); ++i) fits = x.shape()[lead + i] == normalized[i];
  if (!fits) {
    throw ShapeError("layer_norm: x " + to_string(x.aval()) + " does not end in normalized_shape " +
                     to_string(normalized));
  }
  for (const Array* p : {&weight, &bias}) {
    if (p->defined() && !(p->shape() == normalized)) {
      throw ShapeError("layer_norm: weight and bias must have normalized_shape " +
                       to_string(normalized) + ", got " + to_string(p->aval()));
    }
  }
  const int64_t n = normalized.numel();
  Shape rows;
  for (int i = 0; i < lead; ++i) rows.push_back(x.shape()[i]);
  rows.push_back(n);
  const Array w = weight.defined() ? weight.reshape({n}) : ones({1}, x.dtype());
  const Array b = bias.defined() ? bias.reshape({n}) : zeros({1}, x.dtype());
  const Array y =
      bind1(layer_norm_p, {x.reshape(rows), w, b}, Params::make(LayerNormParams{o.eps}));
  return y.reshape(x.shape());
}

namespace {

// f[c] -> f[c, 1, ...] to stand beside f[n, c, ...].
Array by_channel(const Array& v, int rank) {
  Shape shape = Shape::filled(rank - 1, 1);
  shape[0] = v.size();
  return reshape(v, shape);
}

void check_channels(const Array& x, const Array& v, const char* name) {
  if (v.defined() && !(v.shape() == Shape{x.shape()[1]})) {
    throw ShapeError(std::string("batch_norm: x is ") + to_string(x.aval()) + ", so " + name +
                     " must be f[" + std::to_string(x.shape()[1]) + "]; got " +
                     to_string(v.aval()));
  }
}

// `share` of the new statistics in the running ones: a number, or f[] of their dtype.
BatchNormResult batch_norm_with(const Array& x, const Array& running_mean, const Array& running_var,
                                const Array& weight, const Array& bias, bool training,
                                const Array& share, double eps) {
  check_range("batch_norm", "eps", eps, Range::kNotNegative);
  if (x.rank() < 2) throw ShapeError("batch_norm: takes f[n, c, ...], got " + to_string(x.aval()));
  check_channels(x, running_mean, "running_mean");
  check_channels(x, running_var, "running_var");
  check_channels(x, weight, "weight");
  check_channels(x, bias, "bias");
  BatchNormResult result{Array(), running_mean, running_var};
  // Half precision is too coarse for sums over a batch.
  const Array wide = internal::wide(x);
  Array v = running_var, distance, rest;
  if (training) {
    const int64_t channels = x.shape()[1], count = channels == 0 ? 0 : x.size() / channels;
    if (count < 2) {
      throw ValueError("batch_norm: training needs more than one value for each channel, got " +
                       to_string(x.aval()));
    }
    Axes axes;
    for (int i = 0; i < x.rank(); ++i) {
      if (i != 1) axes.push_back(i);
    }
    const spruce::internal::Deviations d = spruce::internal::deviations(wide, axes);
    distance = d.from_mean;
    rest = d.rest;
    v = d.of_squares / static_cast<double>(count);
    if (running_mean.defined()) {
      const Array m = d.mean + rest;
      result.running_mean = (1 - share) * running_mean + share * astype(m, running_mean.dtype());
    }
    if (running_var.defined()) {
      const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
      result.running_var =
          (1 - share) * running_var + share * unbiased * astype(v, running_var.dtype());
    }
  } else if (!running_mean.defined() || !v.defined()) {
    throw ValueError("batch_norm: evaluation needs running_mean and running_var");
  } else {
    distance = wide - by_channel(running_mean, x.rank());
  }
  Array scale = rsqrt(v + eps), shift = bias;
  if (weight.defined()) scale = scale * weight;
  // (distance - rest) * scale + bias, in one pass over what is large.
  if (rest.defined()) shift = bias.defined() ? bias - rest * scale : -(rest * scale);
  result.output = distance * by_channel(scale, x.rank());
  if (shift.defined()) result.output = result.output + by_channel(shift, x.rank());
  result.output = internal::narrow(result.output, x.dtype());
  return result;
}

}  // namespace

BatchNormResult BatchNormFunction::operator()(const Array& x, const Array& running_mean,
                                              const Array& running_var, const Array& weight,
                                              const Array& bias, const BatchNormOptions& o,
                                              Loc loc) const {
  const OpScope at("batch_norm", loc);
  check_range("batch_norm", "momentum", o.momentum, Range::kShare);
  return batch_norm_with(x, running_mean, running_var, weight, bias, o.training, o.momentum, o.eps);
}

LayerNorm LayerNorm::init(const Shape& normalized_shape, const NormLayerOptions& o, Loc loc) {
  const OpScope at("LayerNorm::init", loc);
  const internal::InitPlace place(o.device);
  check_range("LayerNorm::init", "eps", o.eps, Range::kNotNegative);
  LayerNorm layer;
  layer.normalized_shape = normalized_shape;
  layer.eps = o.eps;
  if (o.affine) {
    layer.weight = ones(normalized_shape, o.dtype);
    layer.bias = zeros(normalized_shape, o.dtype);
  }
  return layer;
}

Array LayerNorm::operator()(const Array& x, Loc loc) const {
  const OpScope at("LayerNorm", loc);
  internal::require_made("LayerNorm", weight);
  return internal::observed(*this, "LayerNorm",
                            layer_norm(x, normalized_shape, weight.value_or(Array()),
                                       bias.value_or(Array()), {.eps = eps}, loc));
}

BatchNorm BatchNorm::init(int64_t n, const BatchNormLayerOptions& o, Loc loc) {
  const OpScope at("BatchNorm::init", loc);
  const internal::InitPlace place(o.device);
  check_range("BatchNorm::init", "eps", o.eps, Range::kNotNegative);
  if (o.momentum.has_value())
    check_range("BatchNorm::init", "momentum", *o.momentum, Range::kShare);
  BatchNorm layer;
  if (o.affine) {
    layer.weight = ones({n}, o.dtype);
    layer.bias = zeros({n}, o.dtype);
  }
  if (o.track_running_stats) {
    layer.running_mean = Buffer{zeros({n}, o.dtype)};
    layer.running_var = Buffer{ones({n}, o.dtype)};
    layer.num_batches_tracked = Buffer{zeros({}, int64)};
  }
  layer.eps = o.eps;
  layer.momentum = o.momentum;
  return layer;
}

Array BatchNorm::operator()(const Array& x, Loc loc) const {
  Context evaluation;
  return (*this)(x, evaluation, loc);
}

Array BatchNorm::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("BatchNorm", loc);
  internal::require_made("BatchNorm", weight);
  const auto given = [&](const BatchNormResult& r) {
    return internal::observed(*this, "BatchNorm", r.output);
  };
  const Array w = weight.value_or(Array()), b = bias.value_or(Array());
  if (!running_mean.has_value() || !running_var.has_value())
    return given(batch_norm_with(x, Array(), Array(), w, b, true, Array(), eps));
  const Array &m = ctx.latest(*running_mean), &v = ctx.latest(*running_var);
  if (!ctx.training) return given(batch_norm_with(x, m, v, w, b, false, Array(), eps));
  Array tracked, share = momentum.value_or(0.0);
  if (num_batches_tracked.has_value()) {
    tracked = ctx.latest(*num_batches_tracked) + 1;
    if (!momentum.has_value()) share = 1 / astype(tracked, m.dtype());
  }
  const BatchNormResult r = batch_norm_with(x, m, v, w, b, true, share, eps);
  ctx.update(*running_mean, r.running_mean);
  ctx.update(*running_var, r.running_var);
  if (tracked.defined()) ctx.update(*num_batches_tracked, tracked);
  return given(r);
}

}  // namespace spruce::nn
