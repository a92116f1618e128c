// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/clip.h"

namespace spruce::optim {
namespace {

using spruce::internal::Range;

// |x| over a unit, with axes of size 1 that broadcast to x.
Array unit_norm(const Array& x, const AxisArg& axes) {
  const auto norm = [&](const AxisArg& over) {
    return internal::safe_root(sum(square(x), over, {.keepdims = true}));
  };
  if (!axes.all()) return norm(axes);
  int longer = 0;  // axes that are not of size 1
  for (int i = 0; i < x.rank(); ++i) longer += x.shape()[i] != 1;
  if (longer <= 1) return norm(none);
  Axes behind;  // the weights of nn are f[out, in, ...]
  for (int i = 1; i < x.rank(); ++i) behind.push_back(i);
  return norm(behind);
}

}  // namespace

namespace internal {

Array safe_root(const Array& x) {
  const Array none = x == 0.0f;
  return where(none, x, sqrt(where(none, ones_like(x), x)));
}

}  // namespace internal

Array unitwise_norm(const Array& x, const AxisArg& axes, Loc loc) {
  const OpScope at("unitwise_norm", loc);
  return broadcast_to(unit_norm(x, axes), x.shape());
}

Array unitwise_clip(const Array& norm, const Array& max_norm, const Array& grad,
                    const Hyperparam& div_eps, Loc loc) {
  const OpScope at("unitwise_clip", loc);
  if (!(norm.shape() == grad.shape()) || !(max_norm.shape() == grad.shape())) {
    throw ShapeError("unitwise_clip: the norm is " + to_string(norm.aval()) + ", max_norm is " +
                     to_string(max_norm.aval()) + ", grad is " + to_string(grad.aval()) +
                     "; they must have one shape, as unitwise_norm gives it");
  }
  return where(norm < max_norm, grad, grad * (max_norm / maximum(norm, div_eps.in(norm.dtype()))));
}

ClipByGlobalNorm clip_by_global_norm(Hyperparam max_norm, Loc loc) {
  const LocScope at(loc);
  max_norm.check("clip_by_global_norm", "max_norm", Range::kPositive);
  return {std::move(max_norm)};
}

Clip clip(Hyperparam max_delta, Loc loc) {
  const LocScope at(loc);
  max_delta.check("clip", "max_delta", Range::kPositive);
  return {std::move(max_delta)};
}

ClipByBlockRms clip_by_block_rms(Hyperparam threshold, Loc loc) {
  const LocScope at(loc);
  threshold.check("clip_by_block_rms", "threshold", Range::kPositive);
  return {std::move(threshold)};
}

Array AdaptiveGradClip::clipped(const Array& grad, const Array& param) const {
  const Array g = internal::widened(grad), p = internal::widened(param);
  const Array norm = unit_norm(g, axes);
  const Array most = clipping * maximum(unit_norm(p, axes), eps.in(p.dtype()));
  return astype(where(norm < most, g, g * (most / maximum(norm, 1e-6))), grad.dtype());
}

AdaptiveGradClip adaptive_grad_clip(AdaptiveGradClip options, Loc loc) {
  const LocScope at(loc);
  options.clipping.check("adaptive_grad_clip", "clipping", Range::kPositive);
  options.eps.check("adaptive_grad_clip", "eps", Range::kNotNegative);
  return options;
}

AdaptiveGradClip adaptive_grad_clip(Hyperparam clipping, Loc loc) {
  return adaptive_grad_clip(AdaptiveGradClip{.clipping = std::move(clipping)}, loc);
}

NormalizeByUpdateNorm normalize_by_update_norm(NormalizeByUpdateNorm options, Loc loc) {
  const LocScope at(loc);
  options.scale_factor.check("normalize_by_update_norm", "scale_factor", Range::kPositive);
  options.eps.check("normalize_by_update_norm", "eps", Range::kNotNegative);
  return options;
}

}  // namespace spruce::optim
