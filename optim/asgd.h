// SPDX-License-Identifier: Apache-2.0
// Averaged gradient descent (Polyak and Juditsky 1992), as torch.optim.ASGD has it.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of asgd.
struct AsgdOptions {
  Hyperparam learning_rate = 1e-2;  ///< at the first update
  Hyperparam lambd = 1e-4;          ///< share of the parameters that a step of size 1 takes away
  Hyperparam alpha = 0.75;          ///< power of the fall of the learning rate
  double t0 = 1e6;                  ///< the number of updates behind which the mean begins
  Hyperparam weight_decay = 0;      ///< weight_decay * params is added to the gradients
};

/// State of asgd.
template <class T>
struct AsgdState {
  Array count;  ///< i32[]
  T average;    ///< the parameters up to update t0, and their mean from then on; zeros at first
};

/// params -= rate * (grads + weight_decay * params + lambd * params), where the rate is
/// learning_rate / (1 + lambd * learning_rate * count)^alpha.
class Asgd {
 public:
  /// Throws ValueError for options that are negative or not finite.
  explicit Asgd(AsgdOptions options, Loc loc = Loc::current());

  /// Count 0 and zeros.
  template <class T>
  AsgdState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params)};
  }
  /// {updates, next state}; the average is that of the parameters with the updates. Throws
  /// TreeError where trees differ in form, ShapeError where arrays do in shape, DtypeError where
  /// parameters and state do in dtype.
  template <class G, class P>
  std::pair<G, AsgdState<G>> update(const G& grads, const AsgdState<G>& state, const P& params,
                                    Loc loc = Loc::current()) const {
    const OpScope at("asgd", loc);
    check_count("asgd", state.count);
    G updates = map_trainable(
        [&](const Array& g, const Array& p) { return step(g, p, state.count); }, grads, params);
    G average = map_with_state(
        [&](const Array& a, const Array& p, const Array& u) { return mean(a, p + u, state.count); },
        state.average, params, updates);
    return {std::move(updates), {next_count(state.count), std::move(average)}};
  }

 private:
  Array step(const Array& g, const Array& p, const Array& count) const;
  Array mean(const Array& average, const Array& p, const Array& count) const;

  AsgdOptions o_;
};
/// Averaged gradient descent: the model to evaluate is state.average. Throws as Asgd's constructor.
Asgd asgd(AsgdOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
