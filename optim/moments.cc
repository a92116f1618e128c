// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/moments.h"

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/compile/elementwise.h"

namespace spruce::optim::internal {

using spruce::internal::Range;

Array direction(const Array& mu, const Array& nu, const Array& c1, const Array& c2,
                const Hyperparam& eps, const Hyperparam& eps_root) {
  if (!eps.is_constant() || !eps_root.is_constant())
    return (mu / c1) / (sqrt(nu / c2 + eps_root) + eps);
  // The corrections are single numbers: their reciprocals spare divisions of all elements.
  static const auto& quotient =
      *new auto(elementwise([](const Array& m, const Array& n, const Array& m_factor,
                               const Array& n_factor, const Array& e, const Array& e_root) {
        return m * (1.0 / m_factor) / (sqrt(n * (1.0 / n_factor) + e_root) + e);
      }));
  return quotient(mu, nu, c1, c2, eps.constant(), eps_root.constant());
}

Array unbiased_mean(const Array& g, const Array& mu, const Hyperparam& decay, const Array& count,
                    bool nesterov) {
  if (!nesterov) return mu / bias_correction(decay, count, mu.dtype());
  return running_mean(g / bias_correction(decay, count, mu.dtype()),
                      mu / bias_correction(decay, next_count(count), mu.dtype()), decay);
}

void check_moments(const char* op, const Hyperparam& b1, const Hyperparam& b2,
                   const Hyperparam& eps, const Hyperparam& eps_root) {
  b1.check(op, "b1", Range::kDecay);
  b2.check(op, "b2", Range::kDecay);
  eps.check(op, "eps", Range::kNotNegative);
  eps_root.check(op, "eps_root", Range::kNotNegative);
}

}  // namespace spruce::optim::internal
