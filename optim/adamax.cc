// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adamax.h"

namespace spruce::optim {

ScaleByAdamax scale_by_adamax(ScaleByAdamax o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_adamax", o.b1, o.b2, o.eps, 0);
  return o;
}

Chain<ScaleByAdamax, ScaleByLearningRate> adamax(AdamaxOptions o, Loc loc) {
  const OpScope at("adamax", loc);
  return named_chain("adamax", scale_by_adamax({o.b1, o.b2, o.eps}),
                     scale_by_learning_rate(o.learning_rate));
}

Chain<ScaleByAdamax, AddDecayedWeights, ScaleByLearningRate> adamaxw(AdamaxWOptions o, Loc loc) {
  const OpScope at("adamaxw", loc);
  return named_chain("adamaxw", scale_by_adamax({o.b1, o.b2, o.eps}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
