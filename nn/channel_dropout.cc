// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/channel_dropout.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/random/check.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/spatial_axes.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

namespace {

template <int kAxes>
constexpr const char* kDropoutName = internal::axes_name<kAxes>("dropout1d", "dropout2d",
                                                                "dropout3d");

void require_key(const char* op, const Key& key) {
  if (!key.defined()) {
    throw ValueError(std::string(op) +
                     ": training needs a key; give one as {.key = key}, or set .training = false");
  }
}

// The shape of x with 1 for all axes but the first `kept`.
Shape of_channels(const Array& x, int kept) {
  Shape shape = x.shape();
  for (int i = kept; i < x.rank(); ++i) shape[i] = 1;
  return shape;
}

Array alpha(const char* op, const Array& x, const Shape& noise, const AlphaDropoutOptions& o) {
  check_range(op, "p", o.p, Range::kShare);
  if (!o.training || o.p == 0) return x;
  require_key(op, o.key);
  if (o.p == 1) return zeros_like(x);
  constexpr double kLimit = -1.7580993408473766;  // of selu far below 0
  const double p = o.p, a = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const Array keep = random::bernoulli(random::internal::key_beside(o.key, x), 1 - o.p, noise);
  return where(keep, a * x, a * kLimit) + -a * kLimit * p;
}

}  // namespace

template <int kAxes>
Array ChannelDropoutFunction<kAxes>::operator()(const Array& x, const DropoutOptions& o,
                                                Loc loc) const {
  const OpScope at(kDropoutName<kAxes>, loc);
  spruce::internal::require_defined(kDropoutName<kAxes>, "x", x);
  check_range(kDropoutName<kAxes>, "p", o.p, Range::kShare);
  internal::require_spatial_axes(kDropoutName<kAxes>, kAxes, x);
  if (!o.training || o.p == 0) return x;
  require_key(kDropoutName<kAxes>, o.key);
  if (o.p == 1) return zeros_like(x);
  const Array keep = random::bernoulli(random::internal::key_beside(o.key, x), 1 - o.p,
                                       of_channels(x, x.rank() - kAxes));
  return where(keep, x / (1 - o.p), zeros_like(x));
}

Array AlphaDropoutFunction::operator()(const Array& x, const AlphaDropoutOptions& o,
                                       Loc loc) const {
  const OpScope at("alpha_dropout", loc);
  spruce::internal::require_defined("alpha_dropout", "x", x);
  return alpha("alpha_dropout", x, x.shape(), o);
}

Array FeatureAlphaDropoutFunction::operator()(const Array& x, const AlphaDropoutOptions& o,
                                              Loc loc) const {
  const OpScope at("feature_alpha_dropout", loc);
  spruce::internal::require_defined("feature_alpha_dropout", "x", x);
  if (x.rank() < 2) {
    throw ShapeError("feature_alpha_dropout: takes f[n, c, ...], got " + to_string(x.aval()));
  }
  return alpha("feature_alpha_dropout", x, of_channels(x, 2), o);
}

Array AlphaDropout::operator()(const Array& x, Loc loc) const {
  const OpScope at("AlphaDropout", loc);
  return alpha_dropout(x, {.p = p});
}
Array AlphaDropout::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("AlphaDropout", loc);
  if (!ctx.training || p == 0) return (*this)(x, loc);
  return alpha_dropout(x, {.p = p, .training = true, .key = ctx.next_key("AlphaDropout", *this)});
}

Array FeatureAlphaDropout::operator()(const Array& x, Loc loc) const {
  const OpScope at("FeatureAlphaDropout", loc);
  return feature_alpha_dropout(x, {.p = p});
}
Array FeatureAlphaDropout::operator()(const Array& x, Context& ctx, Loc loc) const {
  const OpScope at("FeatureAlphaDropout", loc);
  if (!ctx.training || p == 0) return (*this)(x, loc);
  return feature_alpha_dropout(
      x, {.p = p, .training = true, .key = ctx.next_key("FeatureAlphaDropout", *this)});
}

template struct ChannelDropoutFunction<1>;
template struct ChannelDropoutFunction<2>;
template struct ChannelDropoutFunction<3>;

}  // namespace spruce::nn
