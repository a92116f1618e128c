// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/mechanize.h"

#include <cmath>

namespace spruce::optim::internal {

using spruce::internal::Range;

void check_mechanize(const MechanizeOptions& o) {
  o.weight_decay.check("mechanize", "weight_decay", Range::kNotNegative);
  o.eps.check("mechanize", "eps", Range::kNotNegative);
  o.s_init.check("mechanize", "s_init", Range::kPositive);
  check_steps("mechanize", "num_betas", o.num_betas);
}

MechanicLearners first_learners(const MechanizeOptions& o, Dtype dtype) {
  const Array zero = zeros({o.num_betas}, dtype);
  return {zero, zero, zero, broadcast_to(o.s_init.in(dtype), {o.num_betas})};
}

MechanicLearners next_learners(const MechanicLearners& before, const Array& slope,
                               const MechanizeOptions& o) {
  const Dtype dtype = before.s.dtype();
  check_shape("mechanize", "s", before.s, before.s, {o.num_betas});
  std::vector<double> decays;
  for (int64_t i = 1; i <= o.num_betas; ++i)
    decays.push_back(1 - std::pow(0.1, static_cast<double>(i)));
  const Array beta = astype(array(decays), dtype);
  const Array clipped = spruce::clip(broadcast_to(slope, before.m.shape()), -before.m, before.m);
  MechanicLearners next;
  next.m = maximum(beta * before.m, abs(slope) + o.eps);
  next.v = square(beta) * before.v + square(slope);
  next.r = beta * before.r + clipped * before.s;
  const Array wealth =
      (o.s_init / Hyperparam(static_cast<double>(o.num_betas))) * next.m + maximum(next.r, 0);
  next.s = wealth / (sqrt(next.v) + o.eps);
  return next;
}

}  // namespace spruce::optim::internal
