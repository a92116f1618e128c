// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/noise.h"

namespace spruce::optim {

AddNoise add_noise(Hyperparam eta, Hyperparam gamma, Key key, Loc loc) {
  const LocScope at(loc);
  eta.check("add_noise", "eta", spruce::internal::Range::kNotNegative);
  gamma.check("add_noise", "gamma", spruce::internal::Range::kNotNegative);
  return {std::move(eta), std::move(gamma), std::move(key)};
}

Chain<AddNoise, ScaleByLearningRate> noisy_sgd(NoisySgdOptions o, Loc loc) {
  const OpScope at("noisy_sgd", loc);
  return named_chain("noisy_sgd", add_noise(o.eta, o.gamma, o.key),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
