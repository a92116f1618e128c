// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adabelief.h"

namespace spruce::optim {

ScaleByBelief scale_by_belief(ScaleByBelief o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_belief", o.b1, o.b2, o.eps, o.eps_root);
  return o;
}

Chain<ScaleByBelief, ScaleByLearningRate> adabelief(AdabeliefOptions o, Loc loc) {
  const OpScope at("adabelief", loc);
  return named_chain("adabelief", scale_by_belief({o.b1, o.b2, o.eps, o.eps_root, o.nesterov}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
