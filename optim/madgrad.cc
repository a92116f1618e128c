// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/madgrad.h"

namespace spruce::optim {

ScaleByMadgrad scale_by_madgrad(ScaleByMadgrad o, Loc loc) {
  const LocScope at(loc);
  o.learning_rate.check("scale_by_madgrad");
  o.momentum.check("scale_by_madgrad", "momentum", spruce::internal::Range::kShare);
  o.eps.check("scale_by_madgrad", "eps", spruce::internal::Range::kNotNegative);
  return o;
}

Chain<AddDecayedWeights, ScaleByMadgrad> madgrad(MadgradOptions o, Loc loc) {
  const OpScope at("madgrad", loc);
  return named_chain("madgrad", add_decayed_weights(o.weight_decay),
                     scale_by_madgrad({o.learning_rate, o.momentum, o.eps}));
}

}  // namespace spruce::optim
