// SPDX-License-Identifier: Apache-2.0
// Means of parameters, and copies that follow them: stochastic weight averaging (Izmailov et al.
// 2018, https://arxiv.org/abs/1803.05407), target networks. ema() is a running mean.
#pragma once

#include "spruce/optim/transformation.h"
#include "spruce/transforms/control/branches/cond.h"

namespace spruce::optim {

/// step_size * now + (1 - step_size) * before for each trained array, in the dtype of `before`;
/// other leaves are those of `now`. A target network that follows slowly (Polyak averaging), and
/// torch.optim.swa_utils' average with step_size = 1 - decay. Throws TreeError where the trees
/// differ in form, ShapeError where arrays do in shape, ValueError for a step_size outside of 0..1.
template <class T>
T incremental_update(const T& now, const T& before, const Hyperparam& step_size,
                     Loc loc = Loc::current()) {
  const OpScope at("incremental_update", loc);
  step_size.check("incremental_update", "step_size", spruce::internal::Range::kShare);
  return map_trainable(
      [&](const Array& a, const Array& b) {
        return astype(step_size * a + (1 - step_size) * b, b.dtype());
      },
      now, before);
}

/// `now` where `steps`, i32[], is a multiple of the period, else `before`. Throws TreeError,
/// ShapeError and DtypeError where the trees differ, ValueError for a period below 1.
template <class T>
T periodic_update(const T& now, const T& before, const Array& steps, int64_t period,
                  Loc loc = Loc::current()) {
  const OpScope at("periodic_update", loc);
  internal::check_steps("periodic_update", "period", period);
  return cond(
      remainder(steps, static_cast<int32_t>(period)) == 0, [&] { return now; },
      [&] { return before; });
}

/// State of equal_average.
template <class T>
struct EqualAverageState {
  Array count;  ///< i32[]: how many the mean is of
  T average;    ///< the mean, zeros before the first
};

/// The updates are the mean of all gradients so far, each of which counts the same.
struct EqualAverage {
  /// Count 0 and zeros.
  template <class T>
  EqualAverageState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params)};
  }
  /// {mean, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do in
  /// shape, DtypeError where gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EqualAverageState<G>> update(const G& grads, const EqualAverageState<G>& state,
                                            const P&, Loc loc = Loc::current()) const {
    const OpScope at("equal_average", loc);
    check_count("equal_average", state.count);
    const Array count = next_count(state.count);
    G mean = map_with_state(
        [&](const Array& x, const Array& m) { return m + (x - m) / astype(count, x.dtype()); },
        grads, state.average);
    return {mean, {count, mean}};
  }
};
/// The mean of all that comes through. For that of the parameters (stochastic weight averaging)
/// hand those over as gradients, from the step on at which it begins:
/// equal_average().update(params, state, params). Batch norms have statistics of their own for the
/// averaged parameters: run the model with them in training mode over some batches.
inline EqualAverage equal_average() { return {}; }

}  // namespace spruce::optim
