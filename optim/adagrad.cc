// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adagrad.h"

namespace spruce::optim {

ScaleByRss scale_by_rss(ScaleByRss o, Loc loc) {
  const LocScope at(loc);
  using spruce::internal::Range;
  o.initial_accumulator_value.check("scale_by_rss", "initial_accumulator_value",
                                    Range::kNotNegative);
  o.eps.check("scale_by_rss", "eps", Range::kNotNegative);
  return o;
}

Chain<ScaleByRss, ScaleByLearningRate> adagrad(AdagradOptions o, Loc loc) {
  const OpScope at("adagrad", loc);
  return named_chain("adagrad", scale_by_rss({o.initial_accumulator_value, o.eps}),
                     scale_by_learning_rate(o.learning_rate));
}

ScaleByAdadelta scale_by_adadelta(ScaleByAdadelta o, Loc loc) {
  const LocScope at(loc);
  o.rho.check("scale_by_adadelta", "rho", spruce::internal::Range::kDecay);
  o.eps.check("scale_by_adadelta", "eps", spruce::internal::Range::kNotNegative);
  return o;
}

Chain<AddDecayedWeights, ScaleByAdadelta, ScaleByLearningRate> adadelta(AdadeltaOptions o,
                                                                        Loc loc) {
  const OpScope at("adadelta", loc);
  return named_chain("adadelta", add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_adadelta({o.rho, o.eps}), scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
