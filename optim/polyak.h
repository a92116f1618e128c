// SPDX-License-Identifier: Apache-2.0
// Steps by Polyak's rule (Loizou et al. 2021, https://arxiv.org/abs/2002.10542).
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// updates * min((loss - f_min) / (|updates|^2 + eps), max_learning_rate); 0 where the updates are.
struct ScaleByPolyak {
  Hyperparam max_learning_rate = 1;  ///< the largest factor
  Hyperparam f_min = 0;              ///< the least loss that there can be
  Hyperparam eps = 0;                ///< added to the squared norm
  bool only_down = false;            ///< no step where the loss is below f_min (SPS+)

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {scaled gradients, no state}; `value` is the loss, f[]. Throws ShapeError where the loss is
  /// not of rank 0. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&, const Array& value,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_polyak", loc);
    const Array norm = internal::total([](const Array& g) { return sum(square(g)); }, grads);
    const Hyperparam by(factor(norm, value));
    return {map_trainable([&](const Array& g) { return by * g; }, grads), {}};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: polyak_sgd needs the loss: update(grads, state, params, loss)");
    return {grads, {}};
  }

 private:
  Array factor(const Array& squared_norm, const Array& value) const;
};
/// Polyak's factor as the last part of a chain. Throws ValueError unless max_learning_rate is
/// positive, f_min finite, and eps finite and not negative.
ScaleByPolyak scale_by_polyak(ScaleByPolyak options = {}, Loc loc = Loc::current());

/// Options of polyak_sgd.
struct PolyakSgdOptions {
  Hyperparam max_learning_rate = 1;  ///< the largest factor
  Schedule scaling = 1;              ///< of the gradients before
  Hyperparam f_min = 0;              ///< the least loss that there can be
  Hyperparam eps = 0;                ///< added to the squared norm
  bool only_down = false;            ///< no step where the loss is below f_min (SPS+)
};
/// Gradient descent by Polyak's rule: polyak_sgd().update(grads, state, params, loss). Throws as
/// scale_by_polyak and sgd.
inline Chain<Sgd, ScaleByPolyak> polyak_sgd(PolyakSgdOptions o = {}, Loc loc = Loc::current()) {
  const OpScope at("polyak_sgd", loc);
  o.scaling.check("polyak_sgd", "scaling");
  return named_chain("polyak_sgd", sgd({.learning_rate = o.scaling}),
                     scale_by_polyak({o.max_learning_rate, o.f_min, o.eps, o.only_down}));
}

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
ScaleByOptimisticGradient scale_by_optimistic_gradient(ScaleByOptimisticGradient options = {},
                                                       Loc loc = Loc::current());

/// Options of optimistic_gradient_descent.
struct OptimisticGradientDescentOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam alpha = 1;           ///< weight of the gradient
  Hyperparam beta = 1;            ///< weight of its change
};
/// Optimistic gradient descent, for games between two players. Throws as its parts.
inline Chain<ScaleByOptimisticGradient, ScaleByLearningRate> optimistic_gradient_descent(
    OptimisticGradientDescentOptions o = {}, Loc loc = Loc::current()) {
  const OpScope at("optimistic_gradient_descent", loc);
  return named_chain("optimistic_gradient_descent", scale_by_optimistic_gradient({o.alpha, o.beta}),
                     scale_by_learning_rate(o.learning_rate));
}

}  // namespace spruce::optim
