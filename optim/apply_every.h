// SPDX-License-Identifier: Apache-2.0
// Updates that are added up and come out every k-th time.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of apply_every.
template <class T>
struct ApplyEveryState {
  Array count;  ///< i32[], below k
  T grad_acc;   ///< the sum of the updates since the last that came out
};

/// Zeros for k - 1 updates, then the sum of k of them. An optimizer in front sees each gradient,
/// unlike with multi_steps.
struct ApplyEvery {
  int64_t k = 1;  ///< updates in one sum

  /// Count 0 and zeros.
  template <class T>
  ApplyEveryState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, ApplyEveryState<G>> update(const G& grads, const ApplyEveryState<G>& state, const P&,
                                          Loc loc = Loc::current()) const {
    const OpScope at("apply_every", loc);
    check_count("apply_every", state.count);
    const Array last = state.count >= static_cast<int32_t>(k) - 1;
    G sums = map_with_state(
        [&](const Array& g, const Array& s) { return where(state.count == 0, g, s + g); }, grads,
        state.grad_acc);
    G updates = map_trainable([&](const Array& s) { return where(last, s, zeros_like(s)); }, sums);
    return {std::move(updates), {where(last, 0, next_count(state.count)), std::move(sums)}};
  }
};
/// apply_every(4) as the last part of a chain. Throws ValueError for k < 1.
ApplyEvery apply_every(int64_t k, Loc loc = Loc::current());

}  // namespace spruce::optim
