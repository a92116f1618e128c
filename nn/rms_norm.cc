// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/rms_norm.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/conv.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/finfo.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/init_hint.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"
#include "spruce/nn/wide.h"

namespace spruce::nn {

using spruce::internal::check_range, spruce::internal::Range;

Array RmsNormFunction::operator()(const Array& x, const Shape& normalized, const Array& weight,
                                  const RmsNormOptions& o, Loc loc) const {
  const OpScope at("rms_norm", loc);
  spruce::internal::require_defined("rms_norm", "x", x);
  if (!is_floating(x.dtype())) {
    throw DtypeError("rms_norm: x must be floating, got " + to_string(x.aval()) +
                     "; convert with astype");
  }
  const int lead = x.rank() - normalized.rank();
  bool fits = normalized.rank() > 0 && lead >= 0;
  for (int i = 0; fits && i < normalized.rank(); ++i) fits = x.shape()[lead + i] == normalized[i];
  if (!fits) {
    throw ShapeError("rms_norm: x " + to_string(x.aval()) + " does not end in normalized_shape " +
                     to_string(normalized));
  }
  if (weight.defined() && !(weight.shape() == normalized)) {
    throw ShapeError("rms_norm: weight must have normalized_shape " + to_string(normalized) +
                     ", got " + to_string(weight.aval()));
  }
  const Array wide = internal::wide(x);
  const double eps = o.eps.value_or(finfo(wide.dtype()).eps);
  check_range("rms_norm", "eps", eps, Range::kNotNegative);
  Axes axes;
  for (int i = lead; i < x.rank(); ++i) axes.push_back(i);
  Array y = wide * rsqrt(mean(square(wide), axes, {.keepdims = true}) + eps);
  if (weight.defined()) y = y * weight;
  return y.dtype() == x.dtype() ? y : astype(y, x.dtype());
}

Array LocalResponseNormFunction::operator()(const Array& x, int64_t size,
                                            const LocalResponseNormOptions& o, Loc loc) const {
  const OpScope at("local_response_norm", loc);
  spruce::internal::require_defined("local_response_norm", "x", x);
  if (x.rank() < 2) {
    throw ShapeError("local_response_norm: takes f[n, c, ...], got " + to_string(x.aval()));
  }
  if (size < 1) {
    throw ValueError("local_response_norm: size is " + std::to_string(size) +
                     ", it must be at least 1");
  }
  // As one axis behind the channels: windows are of up to three axes.
  const int64_t n = x.shape()[0], channels = x.shape()[1],
                rest = n * channels == 0 ? 0 : x.size() / (n * channels);
  WindowParams p;
  p.window = {1, size, 1};
  p.padding_low = {0, size / 2, 0};
  p.padding_high = {0, (size - 1) / 2, 0};
  const Array given = internal::wide(x);
  const Array squares = reduce_window_sum(reshape(square(given), {n, channels, rest}), p);
  const Array divisor = o.k + o.alpha / static_cast<double>(size) * squares;
  return internal::narrow(given / reshape(power(divisor, o.beta), x.shape()), x.dtype());
}

RMSNorm RMSNorm::init(const Shape& normalized_shape, const RmsNormLayerOptions& o, Loc loc) {
  const OpScope at("RMSNorm::init", loc);
  const internal::InitPlace place(o.device);
  if (o.eps.has_value()) check_range("RMSNorm::init", "eps", *o.eps, Range::kNotNegative);
  RMSNorm layer;
  layer.normalized_shape = normalized_shape;
  layer.eps = o.eps;
  if (o.affine) layer.weight = ones(normalized_shape, o.dtype);
  return layer;
}

Array RMSNorm::operator()(const Array& x, Loc loc) const {
  const OpScope at("RMSNorm", loc);
  internal::require_made("RMSNorm", weight);
  return internal::observed(*this, "RMSNorm",
                            rms_norm(x, normalized_shape, weight.value_or(Array()), {.eps = eps}));
}

}  // namespace spruce::nn
