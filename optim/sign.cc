// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sign.h"

namespace spruce::optim {

Chain<ScaleBySign, ScaleByLearningRate> sign_sgd(SignSgdOptions o, Loc loc) {
  const OpScope at("sign_sgd", loc);
  return named_chain("sign_sgd", scale_by_sign(), scale_by_learning_rate(o.learning_rate));
}

Chain<Ema, ScaleBySign, ScaleByLearningRate> signum(SignumOptions o, Loc loc) {
  const OpScope at("signum", loc);
  o.beta.check("signum", "beta", spruce::internal::Range::kDecay);
  return named_chain("signum", ema(o.beta, false), scale_by_sign(),
                     scale_by_learning_rate(o.learning_rate));
}

ScaleByRprop scale_by_rprop(ScaleByRprop o, Loc loc) {
  const LocScope at(loc);
  using spruce::internal::Range;
  o.learning_rate.check("scale_by_rprop", "learning_rate", Range::kNotNegative);
  o.eta_minus.check("scale_by_rprop", "eta_minus", Range::kShare);
  o.eta_plus.check("scale_by_rprop", "eta_plus", Range::kNotNegative);
  o.min_step_size.check("scale_by_rprop", "min_step_size", Range::kNotNegative);
  o.max_step_size.check("scale_by_rprop", "max_step_size", Range::kNotNegative);
  return o;
}

Chain<ScaleByRprop, Scale> rprop(ScaleByRprop options, Loc loc) {
  const OpScope at("rprop", loc);
  return named_chain("rprop", scale_by_rprop(std::move(options)), scale(-1));
}

}  // namespace spruce::optim
