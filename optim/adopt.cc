// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/adopt.h"

namespace spruce::optim {

ScaleByAdopt scale_by_adopt(ScaleByAdopt o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_adopt", o.b1, o.b2, o.eps, 0);
  return o;
}

Chain<ScaleByAdopt, ScaleByLearningRate> adopt(AdoptOptions o, Loc loc) {
  const OpScope at("adopt", loc);
  return named_chain("adopt", scale_by_adopt({o.b1, o.b2, o.eps, o.nesterov, o.use_clipping}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
