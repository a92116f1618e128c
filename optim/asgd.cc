// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/asgd.h"

namespace spruce::optim {

using spruce::internal::Range;

Asgd::Asgd(AsgdOptions options, Loc loc) : o_(std::move(options)) {
  const OpScope at("asgd", loc);
  o_.learning_rate.check("asgd", "learning_rate", Range::kNotNegative);
  o_.lambd.check("asgd", "lambd", Range::kNotNegative);
  o_.alpha.check("asgd", "alpha", Range::kNotNegative);
  Hyperparam(o_.t0).check("asgd", "t0", Range::kNotNegative);
  o_.weight_decay.check("asgd", "weight_decay", Range::kNotNegative);
}

Array Asgd::step(const Array& g, const Array& p, const Array& count) const {
  const Dtype wide = p.dtype() == float64 ? float64 : float32;
  const Array first = o_.learning_rate.in(wide);
  const Array fall = power(1 + o_.lambd * first * astype(count, wide), o_.alpha.in(wide));
  const Hyperparam rate(first / fall);
  return -(rate * (g + (o_.weight_decay + o_.lambd) * p));
}

Array Asgd::mean(const Array& average, const Array& p, const Array& count) const {
  // Before update t0 the share is 1.
  const Array share = 1 / maximum(astype(count, float64) - o_.t0, 1);
  return where(share == 1, p, average + Hyperparam(share) * (p - average));
}

Asgd asgd(AsgdOptions options, Loc loc) { return Asgd(std::move(options), loc); }

}  // namespace spruce::optim
