// SPDX-License-Identifier: Apache-2.0
// A running mean of updates, or of parameters.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of ema.
template <class T>
struct EmaState {
  Array count;  ///< i32[]
  T ema;        ///< the running mean, before the correction of its bias
};

/// The updates are the running mean of the gradients: ema = decay * ema + (1 - decay) * grads.
struct Ema {
  Hyperparam decay;    ///< share of the mean that stays at an update
  bool debias = true;  ///< divide by 1 - decay^count, for the mean begins at 0

  /// Count 0 and a mean of zeros.
  template <class T>
  EmaState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params)};
  }
  /// {mean, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do in
  /// shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmaState<G>> update(const G& grads, const EmaState<G>& state, const P&,
                                   Loc loc = Loc::current()) const {
    const OpScope at("ema", loc);
    check_count("ema", state.count);
    EmaState<G> next{next_count(state.count), update_moment(grads, state.ema, decay)};
    if (!debias) return {next.ema, std::move(next)};
    G updates = map_trainable(
        [&](const Array& m) { return m / bias_correction(decay, next.count, m.dtype()); },
        next.ema);
    return {std::move(updates), std::move(next)};
  }
};
/// A running mean of the gradients as a part of chain(). For a mean of the parameters hand those
/// over as gradients, after each step: ema(0.999).update(params, state, params). Throws ValueError
/// for a decay outside of 0 <= decay < 1.
Ema ema(Hyperparam decay, bool debias = true, Loc loc = Loc::current());

}  // namespace spruce::optim
