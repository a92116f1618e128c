// SPDX-License-Identifier: Apache-2.0
// AdaGrad (Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html) and AdaDelta (Zeiler 2012,
// https://arxiv.org/abs/1212.5701).
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of adagrad.
template <class T>
struct RssState {
  T sum_of_squares;  ///< of the gradients so far
};

/// updates = grads / sqrt(sum of squares + eps), 0 where the sum is 0.
struct ScaleByRss {
  Hyperparam initial_accumulator_value = 0.1;  ///< where the sums start
  Hyperparam eps = 1e-7;                       ///< added under the root

  /// Sums at initial_accumulator_value.
  template <class T>
  RssState<T> init(const T& params) const {
    return {full_like_tree(params, initial_accumulator_value)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, RssState<G>> update(const G& grads, const RssState<G>& state, const P&,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_rss", loc);
    G sums = map_with_state([](const Array& g, const Array& s) { return square(g) + s; }, grads,
                            state.sum_of_squares);
    G updates = map_trainable(
        [&](const Array& g, const Array& s) {
          const Array some = s > 0;
          return where(some, rsqrt(where(some, s, 1.0f) + eps), 0.0f) * g;
        },
        grads, sums);
    return {std::move(updates), {std::move(sums)}};
  }
};
/// AdaGrad without a learning rate, as a part of chain(). Throws ValueError for numbers that are
/// negative or not finite.
ScaleByRss scale_by_rss(ScaleByRss o = {}, Loc loc = Loc::current());

/// Options of adagrad.
struct AdagradOptions {
  Schedule learning_rate = 1e-2;               ///< constant, or a function of the number of updates
  Hyperparam initial_accumulator_value = 0.1;  ///< where the sums start
  Hyperparam eps = 1e-7;                       ///< added under the root
};
/// AdaGrad. Throws as scale_by_rss and scale_by_learning_rate.
Chain<ScaleByRss, ScaleByLearningRate> adagrad(AdagradOptions o = {}, Loc loc = Loc::current());

/// State of adadelta.
template <class T>
struct AdadeltaState {
  T e_g;  ///< running mean of the squared gradients
  T e_x;  ///< the same of the updates
};

/// updates = grads * sqrt(e_x + eps) / sqrt(e_g + eps).
struct ScaleByAdadelta {
  Hyperparam rho = 0.9;   ///< decay of both means
  Hyperparam eps = 1e-6;  ///< added under both roots

  /// Zeros.
  template <class T>
  AdadeltaState<T> init(const T& params) const {
    return {zeros_like_tree(params), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AdadeltaState<G>> update(const G& grads, const AdadeltaState<G>& state, const P&,
                                        Loc loc = Loc::current()) const {
    const OpScope at("scale_by_adadelta", loc);
    G e_g = update_second_moment(grads, state.e_g, rho);
    G updates = map_with_state(
        [&](const Array& g, const Array& now, const Array& before) {
          return sqrt(before + eps) / sqrt(now + eps) * g;
        },
        grads, e_g, state.e_x);
    G e_x = update_second_moment(updates, state.e_x, rho);
    return {std::move(updates), {std::move(e_g), std::move(e_x)}};
  }
};
/// AdaDelta without a learning rate, as a part of chain(). Throws ValueError for a rho outside of 0
/// <= rho < 1 and an eps that is negative or not finite.
ScaleByAdadelta scale_by_adadelta(ScaleByAdadelta o = {}, Loc loc = Loc::current());

/// Options of adadelta.
struct AdadeltaOptions {
  Schedule learning_rate = 1;   ///< constant, or a function of the number of updates
  Hyperparam rho = 0.9;         ///< decay of both means
  Hyperparam eps = 1e-6;        ///< added under both roots
  Hyperparam weight_decay = 0;  ///< weight_decay * params is added to the gradients (L2 penalty)
  Mask mask = {};               ///< which parameters decay; empty: all of them
};
/// AdaDelta. Throws as its parts.
Chain<AddDecayedWeights, ScaleByAdadelta, ScaleByLearningRate> adadelta(AdadeltaOptions o = {},
                                                                        Loc loc = Loc::current());

}  // namespace spruce::optim
