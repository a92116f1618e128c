// SPDX-License-Identifier: Apache-2.0
// Descent by the signs of gradients: signSGD and Signum (Bernstein et al. 2018,
// https://arxiv.org/abs/1802.04434) and Rprop (Riedmiller and Braun 1993,
// https://doi.org/10.1109/ICNN.1993.298623).
#pragma once

#include "spruce/optim/ema.h"

namespace spruce::optim {

/// updates = sign(grads).
struct ScaleBySign {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {-1, 0 or 1 for each element, no state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_sign", loc);
    return {map_trainable([](const Array& g) { return sign(g); }, grads), {}};
  }
};
/// Signs as a part of chain().
inline ScaleBySign scale_by_sign() { return {}; }

/// Options of sign_sgd.
struct SignSgdOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
};
/// signSGD: each parameter goes learning_rate up or down. Throws as scale_by_learning_rate.
Chain<ScaleBySign, ScaleByLearningRate> sign_sgd(SignSgdOptions o = {}, Loc loc = Loc::current());

/// Options of signum.
struct SignumOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam beta = 0.9;          ///< decay of the mean of gradients
};
/// signSGD by a running mean of the gradients. Throws ValueError for a beta outside of 0 <= beta <
/// 1, and as scale_by_learning_rate.
Chain<Ema, ScaleBySign, ScaleByLearningRate> signum(SignumOptions o = {}, Loc loc = Loc::current());

/// State of rprop.
template <class T>
struct RpropState {
  T step_sizes;    ///< how far each parameter goes
  T prev_updates;  ///< the last updates, 0 where the sign of the gradient has changed
};

/// Steps by the sign of the gradient, of a size that grows where the sign stays and falls where it
/// changes. It is for gradients of all examples, not of batches.
struct ScaleByRprop {
  Hyperparam learning_rate = 1e-3;  ///< the size of the first step
  Hyperparam eta_minus = 0.5;       ///< factor of the size where the sign changes, 0 to 1
  Hyperparam eta_plus = 1.2;        ///< factor of the size where it stays
  Hyperparam min_step_size = 1e-6;  ///< the least size
  Hyperparam max_step_size = 50;    ///< the largest size

  /// Steps of size learning_rate.
  template <class T>
  RpropState<T> init(const T& params) const {
    return {full_like_tree(params, learning_rate), zeros_like_tree(params)};
  }
  /// {updates up the gradient, next state}. Throws TreeError where trees differ in form, ShapeError
  /// where arrays do in shape, DtypeError where gradients and state do in dtype. The parameters are
  /// not looked at.
  template <class G, class P>
  std::pair<G, RpropState<G>> update(const G& grads, const RpropState<G>& state, const P&,
                                     Loc loc = Loc::current()) const {
    const OpScope at("scale_by_rprop", loc);
    const G agreement = map_with_state([](const Array& g, const Array& last) { return g * last; },
                                       grads, state.prev_updates);
    G sizes = map_with_state(
        [&](const Array& s, const Array& size) {
          const Dtype d = s.dtype();
          const Array factor = where(s > 0, eta_plus.in(d), eta_minus.in(d));
          return where(s == 0, size,
                       spruce::clip(size * factor, min_step_size.in(d), max_step_size.in(d)));
        },
        agreement, state.step_sizes);
    G updates =
        map_trainable([](const Array& s, const Array& g,
                         const Array& size) { return where(s < 0, zeros_like(g), size * sign(g)); },
                      agreement, grads, sizes);
    return {updates, {std::move(sizes), updates}};
  }
};
/// Rprop without the sign of descent, as a part of chain(); scale(-1) comes behind it. Throws
/// ValueError for numbers that are negative or not finite, and an eta_minus above 1.
ScaleByRprop scale_by_rprop(ScaleByRprop o = {}, Loc loc = Loc::current());
/// Rprop. Throws as scale_by_rprop.
Chain<ScaleByRprop, Scale> rprop(ScaleByRprop options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
