// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/ademamix.h"

namespace spruce::optim {

ScaleByAdemamix scale_by_ademamix(ScaleByAdemamix o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_ademamix", o.b1, o.b2, o.eps, o.eps_root);
  o.b3.check("scale_by_ademamix", "b3");
  if (o.b3.is_constant())
    o.b3.at(Array()).check("scale_by_ademamix", "b3", spruce::internal::Range::kDecay);
  o.alpha.check("scale_by_ademamix", "alpha");
  return o;
}

Chain<ScaleByAdemamix, AddDecayedWeights, ScaleByLearningRate> ademamix(AdemamixOptions o,
                                                                        Loc loc) {
  const OpScope at("ademamix", loc);
  return named_chain("ademamix", scale_by_ademamix({o.b1, o.b2, o.b3, o.alpha, o.eps, o.eps_root}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

ScaleBySimplifiedAdemamix scale_by_simplified_ademamix(ScaleBySimplifiedAdemamix o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_simplified_ademamix", o.b1, o.b2, o.eps, o.eps_root);
  o.alpha.check("scale_by_simplified_ademamix", "alpha");
  return o;
}

Chain<ScaleBySimplifiedAdemamix, AddDecayedWeights, ScaleByLearningRate> simplified_ademamix(
    SimplifiedAdemamixOptions o, Loc loc) {
  const OpScope at("simplified_ademamix", loc);
  return named_chain(
      "simplified_ademamix", scale_by_simplified_ademamix({o.b1, o.b2, o.alpha, o.eps, o.eps_root}),
      add_decayed_weights(o.weight_decay, o.mask), scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
