// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/prodigy.h"

namespace spruce::optim {

using spruce::internal::Range;

Prodigy::Prodigy(ProdigyOptions options, Loc loc) : options_(std::move(options)) {
  const LocScope at(loc);
  options_.learning_rate.check("prodigy");
  options_.b1.check("prodigy", "b1", Range::kDecay);
  options_.b2.check("prodigy", "b2", Range::kDecay);
  if (options_.b3) options_.b3->check("prodigy", "b3", Range::kDecay);
  options_.eps.check("prodigy", "eps", Range::kNotNegative);
  options_.estim_lr0.check("prodigy", "estim_lr0", Range::kPositive);
  options_.estim_lr_coef.check("prodigy", "estim_lr_coef", Range::kNotNegative);
  options_.weight_decay.check("prodigy", "weight_decay", Range::kNotNegative);
}

Prodigy prodigy(ProdigyOptions options, Loc loc) { return Prodigy(std::move(options), loc); }

}  // namespace spruce::optim
