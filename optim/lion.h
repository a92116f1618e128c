// SPDX-License-Identifier: Apache-2.0
// Lion (Chen et al. 2023, https://arxiv.org/abs/2302.06675).
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of lion.
template <class T>
struct LionState {
  T mu;  ///< running mean of the gradients
};

/// updates = sign(b1 * mu + (1 - b1) * grads), where mu is a running mean with decay b2.
struct ScaleByLion {
  Hyperparam b1 = 0.9;   ///< share of the mean in the update
  Hyperparam b2 = 0.99;  ///< decay of the mean of gradients

  /// A mean of zeros.
  template <class T>
  LionState<T> init(const T& params) const {
    return {zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, LionState<G>> update(const G& grads, const LionState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_lion", loc);
    G updates =
        map_with_state([&](const Array& g, const Array& m) { return sign(running_mean(g, m, b1)); },
                       grads, state.mu);
    return {std::move(updates), {update_moment(grads, state.mu, b2)}};
  }
};
/// Lion without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1.
ScaleByLion scale_by_lion(ScaleByLion o = {}, Loc loc = Loc::current());

/// Options of lion.
struct LionOptions {
  Schedule learning_rate = 1e-4;   ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;             ///< share of the mean in the update
  Hyperparam b2 = 0.99;            ///< decay of the mean of gradients
  Hyperparam weight_decay = 1e-3;  ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                  ///< which parameters decay; empty: all of them
};
/// Lion. Throws as its parts.
Chain<ScaleByLion, AddDecayedWeights, ScaleByLearningRate> lion(LionOptions o = {},
                                                                Loc loc = Loc::current());

}  // namespace spruce::optim
