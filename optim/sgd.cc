// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sgd.h"

namespace spruce::optim {

using spruce::internal::Range;

Trace trace(Hyperparam decay, bool nesterov, Loc loc) {
  const LocScope at(loc);
  decay.check("trace", "decay", Range::kShare);
  return {std::move(decay), nesterov};
}

Sgd::Sgd(SgdOptions options, Loc loc) : options_(std::move(options)) {
  const LocScope at(loc);
  options_.learning_rate.check("sgd");
  options_.momentum.check("sgd", "momentum", Range::kShare);
  options_.dampening.check("sgd", "dampening", Range::kShare);
  options_.weight_decay.check("sgd", "weight_decay", Range::kNotNegative);
}

Sgd sgd(SgdOptions options, Loc loc) { return Sgd(std::move(options), loc); }

}  // namespace spruce::optim
