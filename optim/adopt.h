// SPDX-License-Identifier: Apache-2.0
// ADOPT (Taniguchi et al. 2024, https://arxiv.org/abs/2411.02853): Adam that divides by the second
// moment of the gradients before the present one.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = the running mean of grads / max(sqrt(nu), eps), clipped to -count^(1/4)..count^(1/4),
/// where nu is the running mean of squares without the present gradient. The first update is 0.
struct ScaleByAdopt {
  Hyperparam b1 = 0.9;       ///< decay of the mean of normalized gradients
  Hyperparam b2 = 0.9999;    ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-6;     ///< the least root that is divided by
  bool nesterov = false;     ///< the mean looks one step ahead
  bool use_clipping = true;  ///< clip the normalized gradients

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
    const OpScope at("scale_by_adopt", loc);
    check_count("scale_by_adopt", state.count);
    const Array first = state.count == 0;
    const Dtype wide = internal::widest_dtype(grads);
    const Hyperparam decay1(where(first, ones({}, wide), b1.in(wide)));
    const Hyperparam decay2(where(first, zeros({}, wide), b2.in(wide)));
    const Array most = power(astype(state.count, wide), 0.25);
    const G normalized = map_with_state(
        [&](const Array& g, const Array& v) {
          const Array x = g / maximum(sqrt(v), eps.in(v.dtype()));
          const Array limit = astype(most, g.dtype());
          return use_clipping ? spruce::clip(x, -limit, limit) : x;
        },
        grads, state.nu);
    AdamState<G> next{next_count(state.count), update_moment(normalized, state.mu, decay1),
                      update_second_moment(grads, state.nu, decay2)};
    if (!nesterov) return {next.mu, std::move(next)};
    G updates = update_moment(normalized, next.mu, decay1);
    return {std::move(updates), std::move(next)};
  }
};
/// ADOPT without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and eps is finite and not negative.
ScaleByAdopt scale_by_adopt(ScaleByAdopt o = {}, Loc loc = Loc::current());

/// Options of adopt.
struct AdoptOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< decay of the mean of normalized gradients
  Hyperparam b2 = 0.9999;         ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-6;          ///< the least root that is divided by
  bool nesterov = false;          ///< the mean looks one step ahead
  bool use_clipping = true;       ///< clip the normalized gradients
};
/// ADOPT. Throws as scale_by_adopt and scale_by_learning_rate.
Chain<ScaleByAdopt, ScaleByLearningRate> adopt(AdoptOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
