// SPDX-License-Identifier: Apache-2.0
// AdEMAMix (Pagliardini et al. 2024, https://arxiv.org/abs/2409.03137): Adam with a second, slower
// mean of gradients.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// State of ademamix.
template <class T>
struct AdemamixState {
  Array count;  ///< i32[]
  T m1;         ///< the fast mean of the gradients
  T m2;         ///< the slow one
  T nu;         ///< running mean of their squares
};

/// updates = (m1_hat + alpha * m2) / (sqrt(nu_hat + eps_root) + eps).
struct ScaleByAdemamix {
  Hyperparam b1 = 0.9;      ///< decay of the fast mean of gradients
  Hyperparam b2 = 0.999;    ///< decay of the mean of squared gradients
  Schedule b3 = 0.9999;     ///< decay of the slow mean; may depend on the number of updates
  Schedule alpha = 6;       ///< weight of the slow mean; may depend on the number of updates
  Hyperparam eps = 1e-8;    ///< added to the root, outside of it
  Hyperparam eps_root = 0;  ///< added under the root

  /// Count 0 and zeros.
  template <class T>
  AdemamixState<T> init(const T& params) const {
    const T zeros = zeros_like_tree(params);
    return {zero_count(), zeros, zeros, zeros};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AdemamixState<G>> update(const G& grads, const AdemamixState<G>& state, const P&,
                                        Loc loc = Loc::current()) const {
    const OpScope at("scale_by_ademamix", loc);
    check_count("scale_by_ademamix", state.count);
    const Hyperparam slow = b3.at(state.count), weight = alpha.at(state.count);
    AdemamixState<G> next{next_count(state.count), update_moment(grads, state.m1, b1),
                          update_moment(grads, state.m2, slow),
                          update_second_moment(grads, state.nu, b2)};
    G updates = map_trainable(
        [&](const Array& fast, const Array& m2, const Array& v) {
          const Array c1 = bias_correction(b1, next.count, v.dtype());
          return internal::direction(fast / c1 + weight * m2, v, ones({}, v.dtype()),
                                     bias_correction(b2, next.count, v.dtype()), eps, eps_root);
        },
        next.m1, next.m2, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// AdEMAMix without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and the other numbers are finite and not negative.
ScaleByAdemamix scale_by_ademamix(ScaleByAdemamix o = {}, Loc loc = Loc::current());

/// Options of ademamix.
struct AdemamixOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the fast mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Schedule b3 = 0.9999;           ///< decay of the slow mean; may depend on the number of updates
  Schedule alpha = 5;             ///< weight of the slow mean; may depend on the number of updates
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  Hyperparam weight_decay = 0;    ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// AdEMAMix. Throws as its parts.
Chain<ScaleByAdemamix, AddDecayedWeights, ScaleByLearningRate> ademamix(AdemamixOptions o = {},
                                                                        Loc loc = Loc::current());

/// updates = (mu + alpha * grads) / (sqrt(nu_hat + eps_root) + eps), where mu = b1 * mu + grads is
/// a sum (Morwani et al. 2025, https://arxiv.org/abs/2502.02431): AdEMAMix without the fast mean.
struct ScaleBySimplifiedAdemamix {
  Hyperparam b1 = 0.99;     ///< decay of the sum of gradients
  Hyperparam b2 = 0.95;     ///< decay of the mean of squared gradients
  Schedule alpha = 0;       ///< weight of the gradient; may depend on the number of updates
  Hyperparam eps = 1e-8;    ///< added to the root, outside of it
  Hyperparam eps_root = 0;  ///< added under the root

  /// Count 0 and zeros.
  template <class T>
  AdamState<T> init(const T& params) const {
    return internal::zero_moments(params);
  }
  /// {updates, next state}. Throws as scale_by_ademamix.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_simplified_ademamix", loc);
    check_count("scale_by_simplified_ademamix", state.count);
    const Hyperparam weight = alpha.at(state.count);
    AdamState<G> next{
        next_count(state.count),
        map_with_state([&](const Array& g, const Array& m) { return b1 * m + g; }, grads, state.mu),
        update_second_moment(grads, state.nu, b2)};
    G updates = map_trainable(
        [&](const Array& g, const Array& m, const Array& v) {
          return internal::direction(weight * g + m, v, ones({}, v.dtype()),
                                     bias_correction(b2, next.count, v.dtype()), eps, eps_root);
        },
        grads, next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// Simplified AdEMAMix without a learning rate, as a part of chain(). Throws ValueError unless
/// 0 <= b1, b2 < 1 and the other numbers are finite and not negative.
ScaleBySimplifiedAdemamix scale_by_simplified_ademamix(ScaleBySimplifiedAdemamix o = {},
                                                       Loc loc = Loc::current());

/// Options of simplified_ademamix.
struct SimplifiedAdemamixOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.99;           ///< decay of the sum of gradients
  Hyperparam b2 = 0.95;           ///< decay of the mean of squared gradients
  Schedule alpha = 0;             ///< weight of the gradient; may depend on the number of updates
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  Hyperparam weight_decay = 0;    ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// Simplified AdEMAMix. Throws as its parts.
Chain<ScaleBySimplifiedAdemamix, AddDecayedWeights, ScaleByLearningRate> simplified_ademamix(
    SimplifiedAdemamixOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
