// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adan.h"

namespace spruce::optim {

ScaleByAdan scale_by_adan(ScaleByAdan o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_adan", o.b1, o.b2, o.eps, o.eps_root);
  o.b3.check("scale_by_adan", "b3", spruce::internal::Range::kDecay);
  return o;
}

Chain<ScaleByAdan, AddDecayedWeights, ScaleByLearningRate> adan(AdanOptions o, Loc loc) {
  const OpScope at("adan", loc);
  return named_chain("adan", scale_by_adan({o.b1, o.b2, o.b3, o.eps, o.eps_root}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
