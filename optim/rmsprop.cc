// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/rmsprop.h"

namespace spruce::optim {

using spruce::internal::Range;

ScaleByRms scale_by_rms(ScaleByRms o, Loc loc) {
  const LocScope at(loc);
  o.decay.check("scale_by_rms", "decay", Range::kDecay);
  o.eps.check("scale_by_rms", "eps", Range::kNotNegative);
  o.initial_scale.check("scale_by_rms", "initial_scale", Range::kNotNegative);
  return o;
}

Rmsprop::Rmsprop(RmspropOptions o, Loc loc) {
  const OpScope at("rmsprop", loc);
  o.learning_rate.check("rmsprop");
  o.momentum.check("rmsprop", "momentum", Range::kShare);
  rms_ =
      scale_by_rms({o.decay, o.eps, o.initial_scale, o.eps_in_sqrt, o.bias_correction, o.centered});
  rate_.learning_rate = std::move(o.learning_rate);
  trace_ = {o.momentum, o.nesterov};
}

Rmsprop rmsprop(RmspropOptions options, Loc loc) { return Rmsprop(std::move(options), loc); }

}  // namespace spruce::optim
