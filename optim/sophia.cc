// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sophia.h"

namespace spruce::optim {

using spruce::internal::Range;

ScaleBySophia scale_by_sophia(ScaleBySophia o, Loc loc) {
  const char* name = "scale_by_sophia";
  const LocScope at(loc);
  internal::check_moments(name, o.b1, o.b2, o.eps, 0);
  o.gamma.check(name, "gamma", Range::kNotNegative);
  if (o.clip_threshold) o.clip_threshold->check(name, "clip_threshold", Range::kPositive);
  internal::check_steps(name, "update_interval", o.update_interval);
  return o;
}

Chain<ScaleBySophia, AddDecayedWeights, ScaleByLearningRate> sophia(SophiaOptions o, Loc loc) {
  const OpScope at("sophia", loc);
  return named_chain(
      "sophia",
      scale_by_sophia({o.b1, o.b2, o.eps, o.gamma, o.clip_threshold, o.update_interval, o.key}),
      add_decayed_weights(o.weight_decay, o.mask), scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
