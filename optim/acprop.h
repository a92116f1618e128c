// SPDX-License-Identifier: Apache-2.0
// ACProp (Zhuang et al. 2021, https://arxiv.org/abs/2110.05454): AdaBelief that divides each
// gradient by the second moment before it.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = grads / (sqrt(nu_hat) + eps), where nu is the running mean of (grads - mu)^2 up to the
/// last gradient; the first update is grads / (1 + eps).
struct ScaleByAcprop {
  Hyperparam b1 = 0.9;          ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;        ///< decay of the mean of squared distances
  Hyperparam eps = 1e-16;       ///< added to the root, outside of it
  Hyperparam eps_root = 1e-16;  ///< added to the second moment at each update

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
    const OpScope at("scale_by_acprop", loc);
    check_count("scale_by_acprop", state.count);
    const Array first = state.count == 0;
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1), {}};
    next.nu = map_with_state(
        [&](const Array& g, const Array& m, const Array& v) {
          return running_mean(square(g - m), v, b2) + eps_root;
        },
        grads, state.mu, state.nu);
    const Array t = maximum(state.count, 1);
    G updates = map_with_state(
        [&](const Array& g, const Array& v) {
          const Array known = where(first, ones_like(v), v / bias_correction(b2, t, v.dtype()));
          return g / (sqrt(known) + eps);
        },
        grads, state.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// ACProp without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and eps and eps_root are finite and not negative.
ScaleByAcprop scale_by_acprop(ScaleByAcprop o = {}, Loc loc = Loc::current());

/// Options of acprop.
struct AcpropOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared distances
  Hyperparam eps = 1e-16;         ///< added to the root, outside of it
  Hyperparam eps_root = 1e-16;    ///< added to the second moment at each update
  Hyperparam weight_decay = 0;    ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// ACProp. Throws as its parts.
Chain<ScaleByAcprop, AddDecayedWeights, ScaleByLearningRate> acprop(AcpropOptions o = {},
                                                                    Loc loc = Loc::current());

}  // namespace spruce::optim
