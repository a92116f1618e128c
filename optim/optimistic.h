// SPDX-License-Identifier: Apache-2.0
// Steps that look one gradient ahead, for games between two players.
#pragma once

#include "spruce/optim/adam.h"

namespace spruce::optim {

/// State of optimistic_gradient_descent.
template <class T>
struct OptimisticState {
  Array is_initial_step;  ///< bool[]
  T previous_gradient;    ///< zeros at first
};

/// updates = (alpha + beta) * grads - beta * the gradients before (Mokhtari et al. 2019,
/// https://arxiv.org/abs/1901.08511).
struct ScaleByOptimisticGradient {
  Hyperparam alpha = 1;  ///< weight of the gradient
  Hyperparam beta = 1;   ///< weight of its change

  /// Zeros.
  template <class T>
  OptimisticState<T> init(const T& params) const {
    return {ones({}, bool_), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, OptimisticState<G>> update(const G& grads, const OptimisticState<G>& state, const P&,
                                          Loc loc = Loc::current()) const {
    const OpScope at("scale_by_optimistic_gradient", loc);
    G updates = map_with_state(
        [&](const Array& g, const Array& last) {
          return (alpha + beta) * g - beta * where(state.is_initial_step, g, last);
        },
        grads, state.previous_gradient);
    return {std::move(updates), {zeros({}, bool_), grads}};
  }
};
/// The optimistic gradient as a part of chain(). Throws ValueError for numbers that are not finite.
ScaleByOptimisticGradient scale_by_optimistic_gradient(ScaleByOptimisticGradient o = {},
                                                       Loc loc = Loc::current());

/// Options of optimistic_gradient_descent.
struct OptimisticGradientDescentOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam alpha = 1;           ///< weight of the gradient
  Hyperparam beta = 1;            ///< weight of its change
};
/// Optimistic gradient descent, for games between two players. Throws as its parts.
Chain<ScaleByOptimisticGradient, ScaleByLearningRate> optimistic_gradient_descent(
    OptimisticGradientDescentOptions o = {}, Loc loc = Loc::current());

/// Options of optimistic_adam.
struct OptimisticAdamOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam alpha = 1;           ///< weight of Adam's direction
  Hyperparam beta = 1;            ///< weight of its change
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  bool nesterov = true;           ///< Nesterov's form of the mean of gradients
};
/// Optimistic Adam (Daskalakis et al. 2018, https://arxiv.org/abs/1711.00141), Optax's
/// optimistic_adam_v2. Throws as its parts.
Chain<ScaleByAdam, ScaleByOptimisticGradient, ScaleByLearningRate> optimistic_adam(
    OptimisticAdamOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
