// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/cocob.h"

namespace spruce::optim {

ScaleByCocob scale_by_cocob(ScaleByCocob o, Loc loc) {
  const LocScope at(loc);
  o.alpha.check("scale_by_cocob", "alpha", spruce::internal::Range::kPositive);
  o.eps.check("scale_by_cocob", "eps", spruce::internal::Range::kPositive);
  return o;
}

Chain<AddDecayedWeights, ScaleBySchedule, ScaleByCocob> cocob(CocobOptions o, Loc loc) {
  const OpScope at("cocob", loc);
  return named_chain("cocob", add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_schedule(o.learning_rate), scale_by_cocob({o.alpha, o.eps}));
}

}  // namespace spruce::optim
