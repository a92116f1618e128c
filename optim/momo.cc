// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/momo.h"

#include <limits>

namespace spruce::optim::internal {

Array dot(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size())
    throw TreeError("optim: there are gradients of " + std::to_string(a.size()) +
                    " arrays and parameters of " + std::to_string(b.size()));
  Array out = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) {
    out = out + sum(internal::widened(a[i]) * internal::widened(b[i]));
  }
  return out;
}

MomoStep momo_step(const MomoModel& m, const MomoOptions& o, const Hyperparam& rate) {
  const Dtype dtype = m.mean_loss.dtype();
  const Array grown = (Hyperparam(1) + rate * o.weight_decay).in(dtype);
  const Array least = o.lower_bound.in(dtype);
  Array bound = m.bound;
  if (o.adapt_lower_bound) {
    const Array cap = grown * (m.mean_loss - m.mean_slope) + m.product;
    const Array lowered = maximum(cap / (2 * m.correction * grown), least);
    bound = where(cap < grown * m.correction * bound, lowered, bound);
  }
  const Array gap =
      maximum(grown * (m.mean_loss - m.correction * bound - m.mean_slope) + m.product, 0);
  const Array none = m.norm <= std::numeric_limits<double>::epsilon();
  const Array allowed = where(none, zeros_like(gap), gap / where(none, ones_like(m.norm), m.norm));
  const Array length = minimum(rate.in(dtype) / m.correction, allowed);
  if (!o.adapt_lower_bound) return {length, m.bound};
  const Array reached = m.mean_loss + m.product - m.mean_slope - 0.5 * length * m.norm;
  return {length, maximum(reached / m.correction, least)};
}

}  // namespace spruce::optim::internal

namespace spruce::optim {

Momo<false> momo(MomoOptions options, Loc loc) { return Momo<false>(std::move(options), loc); }

Momo<true> momo_adam(MomoOptions options, Loc loc) { return Momo<true>(std::move(options), loc); }

}  // namespace spruce::optim
