// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/lion.h"

namespace spruce::optim {

ScaleByLion scale_by_lion(ScaleByLion o, Loc loc) {
  const LocScope at(loc);
  o.b1.check("scale_by_lion", "b1", spruce::internal::Range::kDecay);
  o.b2.check("scale_by_lion", "b2", spruce::internal::Range::kDecay);
  return o;
}

Chain<ScaleByLion, AddDecayedWeights, ScaleByLearningRate> lion(LionOptions o, Loc loc) {
  const OpScope at("lion", loc);
  return named_chain("lion", scale_by_lion({o.b1, o.b2}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
