// SPDX-License-Identifier: Apache-2.0
// Yogi (Zaheer et al. 2018, "Adaptive methods for nonconvex optimization", NeurIPS): Adam whose
// second moment changes by an amount that does not depend on its size.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = mu_hat / (sqrt(nu_hat + eps_root) + eps), where nu changes by -(1 - b2) * sign(nu -
/// grads^2) * grads^2.
struct ScaleByYogi {
  Hyperparam b1 = 0.9;                          ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;                        ///< 1 - b2 is the step of the second moment
  Hyperparam eps = 1e-3;                        ///< added to the root, outside of it
  Hyperparam eps_root = 0;                      ///< added under the root
  Hyperparam initial_accumulator_value = 1e-6;  ///< where both moments start

  /// Count 0, and both moments at initial_accumulator_value.
  template <class T>
  AdamState<T> init(const T& params) const {
    return {zero_count(), full_like_tree(params, initial_accumulator_value),
            full_like_tree(params, initial_accumulator_value)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P&,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_yogi", loc);
    check_count("scale_by_yogi", state.count);
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1), {}};
    next.nu = map_with_state(
        [&](const Array& g, const Array& v) {
          const Array squared = square(g);
          return v - (1 - b2) * (sign(v - squared) * squared);
        },
        grads, state.nu);
    G updates = map_trainable(
        [&](const Array& m, const Array& v) {
          return internal::direction(m, v, bias_correction(b1, next.count, m.dtype()),
                                     bias_correction(b2, next.count, v.dtype()), eps, eps_root);
        },
        next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// Yogi without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1 and
/// the other numbers are finite and not negative.
ScaleByYogi scale_by_yogi(ScaleByYogi o = {}, Loc loc = Loc::current());

/// Options of yogi.
struct YogiOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< 1 - b2 is the step of the second moment
  Hyperparam eps = 1e-3;          ///< added to the root, outside of it
};
/// Yogi. Throws as scale_by_yogi and scale_by_learning_rate.
Chain<ScaleByYogi, ScaleByLearningRate> yogi(YogiOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
