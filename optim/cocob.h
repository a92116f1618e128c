// SPDX-License-Identifier: Apache-2.0
// COCOB (Orabona and Tommasi 2017, https://arxiv.org/abs/1705.07795): steps by betting on coins,
// without a learning rate.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of cocob.
template <class T>
struct CocobState {
  T init_particles;        ///< the first parameters
  T cumulative_gradients;  ///< the sum of the gradients, with the sign of descent
  T scale;                 ///< the largest absolute gradients
  T subgradients;          ///< the sums of absolute gradients
  T reward;                ///< what has been won
};

/// params' = the first parameters + the share of scale and reward that is bet.
struct ScaleByCocob {
  Hyperparam alpha = 100;  ///< the larger, the slower the first steps
  Hyperparam eps = 1e-8;   ///< the first scale

  /// The parameters, and the first scale.
  template <class T>
  CocobState<T> init(const T& params) const {
    const T zeros_of = zeros_like_tree(params);
    return {params, zeros_of, full_like_tree(params, eps), zeros_of, zeros_of};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, CocobState<G>> update(const G& grads, const CocobState<G>& state, const P& params,
                                     Loc loc = Loc::current()) const {
    const OpScope at("scale_by_cocob", loc);
    CocobState<G> next{state.init_particles, {}, {}, {}, {}};
    next.scale = map_with_state([](const Array& g, const Array& l) { return maximum(l, abs(g)); },
                                grads, state.scale);
    next.subgradients = map_with_state([](const Array& g, const Array& s) { return s + abs(g); },
                                       grads, state.subgradients);
    next.reward = map_with_state([](const Array& g, const Array& r, const Array& p,
                                    const Array& p0) { return maximum(r - g * (p - p0), 0.0f); },
                                 grads, state.reward, params, state.init_particles);
    next.cumulative_gradients = map_with_state([](const Array& g, const Array& c) { return c - g; },
                                               grads, state.cumulative_gradients);
    G updates = map_with_state(
        [&](const Array& c, const Array& l, const Array& g, const Array& r, const Array& p,
            const Array& p0) { return p0 + c / (l * maximum(g + l, alpha * l)) * (l + r) - p; },
        next.cumulative_gradients, next.scale, next.subgradients, next.reward, params,
        state.init_particles);
    return {std::move(updates), std::move(next)};
  }
};
/// COCOB as the last part of chain(), behind gradients as they are. Throws ValueError unless alpha
/// and eps are positive.
ScaleByCocob scale_by_cocob(ScaleByCocob o = {}, Loc loc = Loc::current());

/// Options of cocob.
struct CocobOptions {
  Schedule learning_rate = 1;   ///< factor of the gradients
  Hyperparam alpha = 100;       ///< the larger, the slower the first steps
  Hyperparam eps = 1e-8;        ///< the first scale
  Hyperparam weight_decay = 0;  ///< weight_decay * params is added to the gradients
  Mask mask = {};               ///< which parameters decay; empty: all of them
};
/// COCOB. Throws as its parts.
Chain<AddDecayedWeights, ScaleBySchedule, ScaleByCocob> cocob(CocobOptions o = {},
                                                              Loc loc = Loc::current());

}  // namespace spruce::optim
