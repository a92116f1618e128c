// SPDX-License-Identifier: Apache-2.0
// RAdam (Liu et al. 2020, https://arxiv.org/abs/1908.03265): Adam that begins as momentum, until
// the second moment is known well enough.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {
namespace internal {

// r * mu / (sqrt(nu_hat + eps_root) + eps), or mu where rho is below the threshold.
Array rectified(const Array& mean, const Array& nu, const Array& count, const Hyperparam& b2,
                const Hyperparam& eps, const Hyperparam& eps_root, const Hyperparam& threshold);

}  // namespace internal

/// Adam's updates times a factor for the variance of the second moment; the mean of gradients where
/// rho, the length of the average, is below the threshold.
struct ScaleByRadam {
  Hyperparam b1 = 0.9;       ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;     ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;     ///< added to the root, outside of it
  Hyperparam eps_root = 0;   ///< added under the root
  Hyperparam threshold = 5;  ///< the least length at which the second moment is used
  bool nesterov = false;     ///< the mean of gradients looks one step ahead

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
    const OpScope at("scale_by_radam", loc);
    check_count("scale_by_radam", state.count);
    AdamState<G> next{next_count(state.count), update_moment(grads, state.mu, b1),
                      update_second_moment(grads, state.nu, b2)};
    G updates = map_trainable(
        [&](const Array& g, const Array& m, const Array& v) {
          return internal::rectified(internal::unbiased_mean(g, m, b1, next.count, nesterov), v,
                                     next.count, b2, eps, eps_root, threshold);
        },
        grads, next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
/// RAdam without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1,
/// eps and eps_root are finite and not negative, and the threshold is positive.
ScaleByRadam scale_by_radam(ScaleByRadam options = {}, Loc loc = Loc::current());

/// Options of radam.
struct RadamOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;          ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  Hyperparam threshold = 5;       ///< the least length at which the second moment is used
  bool nesterov = false;          ///< the mean of gradients looks one step ahead
};
/// RAdam. Throws as scale_by_radam and scale_by_learning_rate.
Chain<ScaleByRadam, ScaleByLearningRate> radam(RadamOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
