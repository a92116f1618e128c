// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/acprop.h"

namespace spruce::optim {

ScaleByAcprop scale_by_acprop(ScaleByAcprop o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_acprop", o.b1, o.b2, o.eps, o.eps_root);
  return o;
}

Chain<ScaleByAcprop, AddDecayedWeights, ScaleByLearningRate> acprop(AcpropOptions o, Loc loc) {
  const OpScope at("acprop", loc);
  return named_chain("acprop", scale_by_acprop({o.b1, o.b2, o.eps, o.eps_root}),
                     add_decayed_weights(o.weight_decay, o.mask),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
