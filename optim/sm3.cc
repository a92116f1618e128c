// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/sm3.h"

namespace spruce::optim {

using spruce::internal::Range;

std::vector<std::vector<Array>> ScaleBySm3::start(const std::vector<Array>& params) {
  std::vector<std::vector<Array>> out;
  for (const Array& p : params) {
    out.emplace_back();
    for (int axis = 0; axis < std::max(1, p.rank()); ++axis)
      out.back().push_back(zeros({p.rank() == 0 ? 1 : p.shape()[axis]}, p.aval().strong_dtype()));
  }
  return out;
}

Array ScaleBySm3::direction(const Array& g, std::vector<Array>& mu) const {
  if (g.size() == 0) return g;
  const int rank = std::max(1, g.rank());
  const Array x = g.rank() == 0 ? g.reshape({1}) : g;
  Array least;
  for (int axis = 0; axis < rank; ++axis) {
    const Shape expected{x.shape()[axis]};
    if (mu.size() != static_cast<size_t>(rank))
      throw TreeError("scale_by_sm3: the state is of an array of another rank than " +
                      to_string(g.aval()));
    const Array& sums = mu[static_cast<size_t>(axis)];
    internal::check_shape("scale_by_sm3", "mu", g, sums, expected);
    if (sums.dtype() != g.dtype()) {
      throw DtypeError("scale_by_sm3: the gradient is " + to_string(g.aval()) +
                       " and the state has " + to_string(sums.aval()));
    }
    Shape along = x.shape();
    for (int k = 0; k < rank; ++k) {
      if (k != axis) along[k] = 1;
    }
    const Array bound = sums.reshape(along);
    least = axis == 0 ? bound : minimum(least, bound);
  }
  const bool adds = b2.is_constant() && b2.constant() == 1;
  const Array squares =
      (adds ? square(x) : (Hyperparam(1) - b2) * square(x)) + b2 * broadcast_to(least, x.shape());
  for (int axis = 0; axis < rank; ++axis) {
    Axes others;
    for (int k = 0; k < rank; ++k) {
      if (k != axis) others.push_back(k);
    }
    mu[static_cast<size_t>(axis)] = rank == 1 ? squares : max(squares, others);
  }
  const Array inverse = where(squares > 0, rsqrt(squares + eps), zeros_like(squares));
  return (x * inverse).reshape(g.shape());
}

ScaleBySm3 scale_by_sm3(ScaleBySm3 o, Loc loc) {
  const LocScope at(loc);
  o.b1.check("scale_by_sm3", "b1", Range::kDecay);
  o.b2.check("scale_by_sm3", "b2", Range::kShare);
  o.eps.check("scale_by_sm3", "eps", Range::kNotNegative);
  return o;
}

Chain<ScaleBySm3, ScaleByLearningRate> sm3(Sm3Options o, Loc loc) {
  const OpScope at("sm3", loc);
  return named_chain("sm3", scale_by_sm3({.b1 = o.momentum}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
