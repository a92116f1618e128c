// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/dog.h"

namespace spruce::optim {

ScaleByDog scale_by_dog(ScaleByDog o, Loc loc) {
  const LocScope at(loc);
  o.init_step.check("scale_by_dog", "init_step", spruce::internal::Range::kNotNegative);
  o.eps.check("scale_by_dog", "eps", spruce::internal::Range::kNotNegative);
  return o;
}

Chain<AddDecayedWeights, ScaleByDog, ScaleByLearningRate> dog(DogOptions o, Loc loc) {
  const OpScope at("dog", loc);
  return named_chain("dog", add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_dog({o.init_type, o.init_step, o.eps}),
                     scale_by_learning_rate(o.learning_rate));
}

ScaleByDowg scale_by_dowg(ScaleByDowg o, Loc loc) {
  const LocScope at(loc);
  o.init_estim_sq_dist.value_or(0).check("scale_by_dowg", "init_estim_sq_dist",
                                         spruce::internal::Range::kNotNegative);
  o.eps.check("scale_by_dowg", "eps", spruce::internal::Range::kNotNegative);
  return o;
}

Chain<AddDecayedWeights, ScaleByDowg, ScaleByLearningRate> dowg(DowgOptions o, Loc loc) {
  const OpScope at("dowg", loc);
  return named_chain("dowg", add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_dowg({o.init_estim_sq_dist, o.eps}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
