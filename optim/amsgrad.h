// SPDX-License-Identifier: Apache-2.0
// AMSGrad (Reddi et al. 2018, https://openreview.net/forum?id=ryQu7f-RZ): Adam whose second moment
// never falls.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// State of amsgrad.
template <class T>
struct AmsgradState {
  Array count;  ///< i32[]
  T mu;         ///< running mean of the gradients
  T nu;         ///< the same of their squares
  T nu_max;     ///< the largest nu so far, without its bias where bias_correction_nu
};

/// updates = mu_hat / (sqrt(nu_max + eps_root) + eps).
struct ScaleByAmsgrad {
  Hyperparam b1 = 0.9;             ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;           ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;           ///< added to the root, outside of it
  Hyperparam eps_root = 0;         ///< added under the root
  bool bias_correction_mu = true;  ///< divide mu by 1 - b1^count
  bool bias_correction_nu = true;  ///< divide nu by 1 - b2^count, before the largest is taken

  /// Count 0 and zeros.
  template <class T>
  AmsgradState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params), zeros_like_tree(params),
            zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, AmsgradState<G>> update(const G& grads, const AmsgradState<G>& state, const P&,
                                       Loc loc = Loc::current()) const {
    const OpScope at("scale_by_amsgrad", loc);
    check_count("scale_by_amsgrad", state.count);
    AmsgradState<G> next{next_count(state.count),
                         update_moment(grads, state.mu, b1),
                         update_second_moment(grads, state.nu, b2),
                         {}};
    next.nu_max = map_with_state(
        [&](const Array& v, const Array& most) {
          return maximum(most,
                         bias_correction_nu ? v / bias_correction(b2, next.count, v.dtype()) : v);
        },
        next.nu, state.nu_max);
    G updates = map_trainable(
        [&](const Array& m, const Array& v) {
          const Array one = ones({}, m.dtype());
          const Array c1 = bias_correction_mu ? bias_correction(b1, next.count, m.dtype()) : one;
          return internal::direction(m, v, c1, one, eps, eps_root);
        },
        next.mu, next.nu_max);
    return {std::move(updates), std::move(next)};
  }
};
/// AMSGrad without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and eps and eps_root are finite and not negative.
ScaleByAmsgrad scale_by_amsgrad(ScaleByAmsgrad o = {}, Loc loc = Loc::current());

/// Options of amsgrad.
struct AmsgradOptions {
  Schedule learning_rate = 1e-3;   ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;             ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;           ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;           ///< added to the root, outside of it
  Hyperparam eps_root = 0;         ///< added under the root
  bool bias_correction_mu = true;  ///< divide mu by 1 - b1^count
  bool bias_correction_nu = true;  ///< divide nu by 1 - b2^count, before the largest is taken
};
/// AMSGrad. Throws as scale_by_amsgrad and scale_by_learning_rate.
Chain<ScaleByAmsgrad, ScaleByLearningRate> amsgrad(AmsgradOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
