// SPDX-License-Identifier: Apache-2.0
// AdaBelief (Zhuang et al. 2020, https://arxiv.org/abs/2010.07468): Adam by the squared distance of
// gradients to their mean.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = mu_hat / (sqrt(nu_hat) + eps), where nu is the running mean of (grads - mu)^2, with
/// eps_root added at each update.
struct ScaleByBelief {
  Hyperparam b1 = 0.9;          ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;        ///< decay of the mean of squared distances
  Hyperparam eps = 1e-16;       ///< added to the root, outside of it
  Hyperparam eps_root = 1e-16;  ///< added to the second moment at each update
  bool nesterov = false;        ///< the mean of gradients looks one step ahead

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
    const OpScope at("scale_by_belief", loc);
    check_count("scale_by_belief", state.count);
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1), {}};
    next.nu = map_with_state(
        [&](const Array& g, const Array& m, const Array& v) {
          return running_mean(square(g - m), v, b2) + eps_root;
        },
        grads, next.mu, state.nu);
    G updates = map_trainable(
        [&](const Array& g, const Array& m, const Array& v) {
          return internal::direction(internal::unbiased_mean(g, m, b1, next.count, nesterov), v,
                                     ones({}, m.dtype()),
                                     bias_correction(b2, next.count, v.dtype()), eps, 0);
        },
        grads, next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// AdaBelief without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 <
/// 1 and eps and eps_root are finite and not negative.
ScaleByBelief scale_by_belief(ScaleByBelief o = {}, Loc loc = Loc::current());

/// Options of adabelief.
struct AdabeliefOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared distances
  Hyperparam eps = 1e-16;         ///< added to the root, outside of it
  Hyperparam eps_root = 1e-16;    ///< added to the second moment at each update
  bool nesterov = false;          ///< the mean of gradients looks one step ahead
};
/// AdaBelief. Throws as scale_by_belief and scale_by_learning_rate.
Chain<ScaleByBelief, ScaleByLearningRate> adabelief(AdabeliefOptions o = {},
                                                    Loc loc = Loc::current());

}  // namespace spruce::optim
