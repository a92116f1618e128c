// SPDX-License-Identifier: Apache-2.0
// AdaMax (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, section 7.1): Adam by the largest
// gradients instead of their squares.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = mu_hat / nu, where nu = max(|grads| + eps, b2 * nu).
struct ScaleByAdamax {
  Hyperparam b1 = 0.9;    ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;  ///< decay of the largest gradient
  Hyperparam eps = 1e-8;  ///< added to the absolute gradients

  /// Count 0 and zeros.
  template <class T>
  AdamState<T> init(const T& params) const {
    return internal::zero_moments(params);
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_adamax", loc);
    check_count("scale_by_adamax", state.count);
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1), {}};
    next.nu = map_with_state(
        [&](const Array& g, const Array& v) { return maximum(abs(g) + eps, b2 * v); }, grads,
        state.nu);
    G updates = map_trainable(
        [&](const Array& m, const Array& v) {
          return m / bias_correction(b1, next.count, m.dtype()) / v;
        },
        next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// AdaMax without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and eps is finite and not negative.
ScaleByAdamax scale_by_adamax(ScaleByAdamax o = {}, Loc loc = Loc::current());

/// Options of adamax.
struct AdamaxOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the largest gradient
  Hyperparam eps = 1e-8;          ///< added to the absolute gradients
};
/// AdaMax. Throws as scale_by_adamax and scale_by_learning_rate.
Chain<ScaleByAdamax, ScaleByLearningRate> adamax(AdamaxOptions o = {}, Loc loc = Loc::current());

/// Options of adamaxw.
struct AdamaxWOptions {
  Schedule learning_rate = 1e-3;   ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;             ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;           ///< decay of the largest gradient
  Hyperparam eps = 1e-8;           ///< added to the absolute gradients
  Hyperparam weight_decay = 1e-4;  ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                  ///< which parameters decay; empty: all of them
};
/// AdaMax with decoupled weight decay. Throws as its parts.
Chain<ScaleByAdamax, AddDecayedWeights, ScaleByLearningRate> adamaxw(AdamaxWOptions o = {},
                                                                     Loc loc = Loc::current());

}  // namespace spruce::optim
