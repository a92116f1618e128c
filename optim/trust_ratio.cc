// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/trust_ratio.h"

namespace spruce::optim {
namespace {

using spruce::internal::Range;

Array root_above(const Array& squares, const Hyperparam& least) {
  const Array low = least.in(squares.dtype()), above = squares > square(low);
  return where(above, sqrt(where(above, squares, 1.0f)), low);
}

}  // namespace

namespace internal {

Array safe_norm(const Array& x, const Hyperparam& least) {
  return root_above(sum(square(widened(x))), least);
}

Array safe_rms(const Array& x, const Hyperparam& least) {
  return root_above(mean(square(x)), least);
}

}  // namespace internal

Array ScaleByTrustRatio::scaled(const Array& g, const Array& p) const {
  const Array of_param = internal::safe_norm(p, min_norm);
  const Array of_update = internal::safe_norm(g, min_norm);
  const Array zero = (of_param == 0) | (of_update == 0);
  const Array ratio =
      trust_coefficient * of_param / (where(zero, ones_like(of_update), of_update) + eps);
  return g * astype(where(zero, ones_like(ratio), ratio), g.dtype());
}

ScaleByTrustRatio scale_by_trust_ratio(ScaleByTrustRatio o, Loc loc) {
  const LocScope at(loc);
  o.min_norm.check("scale_by_trust_ratio", "min_norm", Range::kNotNegative);
  o.trust_coefficient.check("scale_by_trust_ratio", "trust_coefficient", Range::kNotNegative);
  o.eps.check("scale_by_trust_ratio", "eps", Range::kNotNegative);
  return o;
}

ScaleByParamBlockRms scale_by_param_block_rms(Hyperparam min_scale, Loc loc) {
  const LocScope at(loc);
  min_scale.check("scale_by_param_block_rms", "min_scale", Range::kNotNegative);
  return {std::move(min_scale)};
}

ScaleByParamBlockNorm scale_by_param_block_norm(Hyperparam min_scale, Loc loc) {
  const LocScope at(loc);
  min_scale.check("scale_by_param_block_norm", "min_scale", Range::kNotNegative);
  return {std::move(min_scale)};
}

Fromage::Fromage(Schedule learning_rate, Hyperparam min_norm, Loc loc)
    : learning_rate_(std::move(learning_rate)) {
  const OpScope at("fromage", loc);
  learning_rate_.check("fromage");
  trust_ = scale_by_trust_ratio({.min_norm = std::move(min_norm)});
}

Chain<AddDecayedWeights, Masked<ScaleByTrustRatio>, ScaleByLearningRate, Trace> lars(LarsOptions o,
                                                                                     Loc loc) {
  const OpScope at("lars", loc);
  o.momentum.check("lars", "momentum", spruce::internal::Range::kShare);
  return named_chain(
      "lars", add_decayed_weights(o.weight_decay, o.weight_decay_mask),
      masked(scale_by_trust_ratio({0, o.trust_coefficient, o.eps}), o.trust_ratio_mask),
      scale_by_learning_rate(o.learning_rate), trace(o.momentum, o.nesterov));
}

Chain<ScaleByAdam, AddDecayedWeights, ScaleByTrustRatio, ScaleByLearningRate> lamb(LambOptions o,
                                                                                   Loc loc) {
  const OpScope at("lamb", loc);
  return named_chain("lamb", scale_by_adam({o.b1, o.b2, o.eps, o.eps_root}),
                     add_decayed_weights(o.weight_decay, o.mask), scale_by_trust_ratio(),
                     scale_by_learning_rate(o.learning_rate));
}

Fromage fromage(FromageOptions o, Loc loc) {
  return Fromage(std::move(o.learning_rate), std::move(o.min_norm), loc);
}

}  // namespace spruce::optim
