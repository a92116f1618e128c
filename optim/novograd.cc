// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/novograd.h"

namespace spruce::optim {

ScaleByNovograd scale_by_novograd(ScaleByNovograd o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_novograd", o.b1, o.b2, o.eps, o.eps_root);
  o.weight_decay.check("scale_by_novograd", "weight_decay", spruce::internal::Range::kNotNegative);
  return o;
}

Chain<ScaleByNovograd, ScaleByLearningRate> novograd(NovogradOptions o, Loc loc) {
  const OpScope at("novograd", loc);
  return named_chain("novograd", scale_by_novograd({o.b1, o.b2, o.eps, o.eps_root, o.weight_decay}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
