// SPDX-License-Identifier: Apache-2.0
// Adan (Xie et al. 2022, https://arxiv.org/abs/2208.06677): Nesterov's momentum by the differences
// of gradients.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// State of adan.
template <class T>
struct AdanState {
  Array count;  ///< i32[]
  T m;          ///< running mean of the gradients
  T v;          ///< the same of the differences of one gradient to the last
  T n;          ///< the same of the squares of gradients that look ahead
  T g;          ///< the last gradient
};

/// updates = (m_hat + (1 - b2) * v_hat) / (sqrt(n_hat + eps_root) + eps).
struct ScaleByAdan {
  Hyperparam b1 = 0.98;     ///< decay of the mean of gradients
  Hyperparam b2 = 0.92;     ///< decay of the mean of differences
  Hyperparam b3 = 0.99;     ///< decay of the mean of squares
  Hyperparam eps = 1e-8;    ///< added to the root, outside of it
  Hyperparam eps_root = 0;  ///< added under the root

  /// Count 0 and zeros.
  template <class T>
  AdanState<T> init(const T& params) const {
    const T zeros = zeros_like_tree(params);
    return {zero_count(), zeros, zeros, zeros, zeros};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AdanState<G>> update(const G& grads, const AdanState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_adan", loc);
    check_count("scale_by_adan", state.count);
    const Array first = state.count == 0;
    const G change = map_with_state(
        [&](const Array& g, const Array& last) { return where(first, zeros_like(g), g - last); },
        grads, state.g);
    const G ahead = map_trainable([&](const Array& g, const Array& d) { return g + (1 - b2) * d; },
                                  grads, change);
    AdanState<G> next{
        next_count(state.count), update_moment(grads, state.m, b1),
        update_moment(change, state.v, b2), update_second_moment(ahead, state.n, b3),
        map_with_state([](const Array& g, const Array&) { return g; }, grads, state.g)};
    G updates = map_trainable(
        [&](const Array& m, const Array& v, const Array& n) {
          const auto c = [&](const Hyperparam& b) {
            return bias_correction(b, next.count, m.dtype());
          };
          return internal::direction(m / c(b1) + (1 - b2) * (v / c(b2)), n, ones({}, m.dtype()),
                                     c(b3), eps, eps_root);
        },
        next.m, next.v, next.n);
    return {std::move(updates), std::move(next)};
  }
};
/// Adan without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2, b3 < 1
/// and eps and eps_root are finite and not negative.
ScaleByAdan scale_by_adan(ScaleByAdan o = {}, Loc loc = Loc::current());

/// Options of adan.
struct AdanOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.98;           ///< decay of the mean of gradients
  Hyperparam b2 = 0.92;           ///< decay of the mean of differences
  Hyperparam b3 = 0.99;           ///< decay of the mean of squares
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 1e-8;     ///< added under the root
  Hyperparam weight_decay = 0;    ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};
/// Adan. Throws as its parts.
Chain<ScaleByAdan, AddDecayedWeights, ScaleByLearningRate> adan(AdanOptions o = {},
                                                                Loc loc = Loc::current());

}  // namespace spruce::optim
