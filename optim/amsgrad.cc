// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/amsgrad.h"

namespace spruce::optim {

ScaleByAmsgrad scale_by_amsgrad(ScaleByAmsgrad o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_amsgrad", o.b1, o.b2, o.eps, o.eps_root);
  return o;
}

Chain<ScaleByAmsgrad, ScaleByLearningRate> amsgrad(AmsgradOptions o, Loc loc) {
  const OpScope at("amsgrad", loc);
  return named_chain(
      "amsgrad",
      scale_by_amsgrad({o.b1, o.b2, o.eps, o.eps_root, o.bias_correction_mu, o.bias_correction_nu}),
      scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
