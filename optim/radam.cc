// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/radam.h"

namespace spruce::optim {

Array internal::rectified(const Array& mean, const Array& nu, const Array& count,
                          const Hyperparam& b2, const Hyperparam& eps, const Hyperparam& eps_root,
                          const Hyperparam& threshold) {
  const Dtype wide = nu.dtype() == float64 ? float64 : float32;
  const Array decay = b2.in(wide), t = astype(count, wide);
  const Array most = 2.0 / (1.0 - decay) - 1.0, power_t = power(decay, t);
  const Array rho = most - 2.0 * t * power_t / (1.0 - power_t);
  const Array long_enough = rho >= threshold.in(wide);
  // Where it is not, the root is of a negative number: neither the value nor its derivative is
  // used.
  const Array safe = where(long_enough, rho, most);
  const Array r = sqrt((safe - 4.0) * (safe - 2.0) * most / ((most - 4.0) * (most - 2.0) * safe));
  const Array one = ones({}, mean.dtype());
  const Array adam =
      direction(mean, nu, one, bias_correction(b2, count, nu.dtype()), eps, eps_root);
  return where(long_enough, astype(r, mean.dtype()) * adam, mean);
}

ScaleByRadam scale_by_radam(ScaleByRadam o, Loc loc) {
  const LocScope at(loc);
  internal::check_moments("scale_by_radam", o.b1, o.b2, o.eps, o.eps_root);
  o.threshold.check("scale_by_radam", "threshold", spruce::internal::Range::kPositive);
  // Below 4 the variance of the adaptive rate has no closed form.
  if (o.threshold.is_constant() && o.threshold.constant() < 4) {
    throw ValueError("scale_by_radam: threshold is " + o.threshold.text() +
                     ", it must be at least 4");
  }
  return o;
}

Chain<ScaleByRadam, ScaleByLearningRate> radam(RadamOptions o, Loc loc) {
  const OpScope at("radam", loc);
  return named_chain("radam",
                     scale_by_radam({o.b1, o.b2, o.eps, o.eps_root, o.threshold, o.nesterov}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
