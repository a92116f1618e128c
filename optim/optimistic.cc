// SPDX-License-Identifier: Apache-2.0
#include "spruce/optim/optimistic.h"

namespace spruce::optim {

ScaleByOptimisticGradient scale_by_optimistic_gradient(ScaleByOptimisticGradient o, Loc loc) {
  const LocScope at(loc);
  o.alpha.check("scale_by_optimistic_gradient", "alpha", spruce::internal::Range::kFinite);
  o.beta.check("scale_by_optimistic_gradient", "beta", spruce::internal::Range::kFinite);
  return o;
}

Chain<ScaleByOptimisticGradient, ScaleByLearningRate> optimistic_gradient_descent(
    OptimisticGradientDescentOptions o, Loc loc) {
  const OpScope at("optimistic_gradient_descent", loc);
  return named_chain("optimistic_gradient_descent", scale_by_optimistic_gradient({o.alpha, o.beta}),
                     scale_by_learning_rate(o.learning_rate));
}

Chain<ScaleByAdam, ScaleByOptimisticGradient, ScaleByLearningRate> optimistic_adam(
    OptimisticAdamOptions o, Loc loc) {
  const OpScope at("optimistic_adam", loc);
  return named_chain("optimistic_adam", scale_by_adam({o.b1, o.b2, o.eps, o.eps_root, o.nesterov}),
                     scale_by_optimistic_gradient({o.alpha, o.beta}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
