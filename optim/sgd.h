// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent, with or without momentum.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of a trace: one running sum for each parameter.
template <class T>
struct TraceState {
  T trace;  ///< of the form of the parameters, zeros at first
};

/// trace = grads + decay * trace; the updates are the trace, or with Nesterov's form grads + decay
/// * trace.
struct Trace {
  Hyperparam decay = 0;   ///< share of the trace that an update keeps, 0 to 1
  bool nesterov = false;  ///< updates that look one step ahead (Sutskever et al. 2013)

  /// A trace of zeros with the shapes and dtypes of the parameters.
  template <class T>
  TraceState<T> init(const T& params) const {
    return {zeros_like_tree(params)};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and trace do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, TraceState<G>> update(const G& grads, const TraceState<G>& state, const P&,
                                     Loc loc = Loc::current()) const {
    const OpScope at("trace", loc);
    const auto step = [&](const Array& g, const Array& t) { return g + decay * t; };
    G next = map_with_state(step, grads, state.trace);
    if (!nesterov) return {next, {next}};
    G updates = map_trainable(step, grads, next);
    return {std::move(updates), {std::move(next)}};
  }
};
/// Momentum as a part of chain(). Throws ValueError for a decay outside of 0..1.
Trace trace(Hyperparam decay, bool nesterov = false, Loc loc = Loc::current());

namespace internal {

// 1 at the first update, 1 - dampening from then on; `count` is of the updates before.
inline Hyperparam undamped_share(const Hyperparam& dampening, const Array& count) {
  if (dampening.is_zero()) return 1;
  const Array later = (1 - dampening).in(float64);
  return Hyperparam(where(count == 0, ones_like(later), later));
}

}  // namespace internal

/// Options of sgd.
struct SgdOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam momentum = 0;        ///< 0: none, and no state for it
  bool nesterov = false;          ///< Nesterov's form of the momentum (Sutskever et al. 2013)
  Hyperparam dampening = 0;       ///< the trace takes (1 - dampening) * grads, from the second on
  Hyperparam weight_decay = 0;    ///< weight_decay * params is added to the gradients (L2 penalty)
  Mask mask = {};                 ///< which parameters decay; empty: all of them
};

/// State of sgd: the number of updates, and the trace where there is momentum.
template <class T>
struct SgdState {
  std::optional<T> trace;  ///< running sum of the gradients; none without momentum
  Array count;             ///< i32[]
};

/// params - learning_rate * grads, or with momentum m: t = grads + m t; params - learning_rate * t.
/// Dampening and weight decay are those of torch.optim.SGD.
class Sgd {
 public:
  /// Keeps the options; there is no state besides that of init(). Throws ValueError for a momentum
  /// or dampening outside of 0..1, and a learning rate or weight decay that is negative or not
  /// finite.
  explicit Sgd(SgdOptions options, Loc loc = Loc::current());

  /// Count 0, and a trace of zeros where there is momentum.
  template <class T>
  SgdState<T> init(const T& params) const {
    SgdState<T> state{std::nullopt, zero_count()};
    if (!options_.momentum.is_zero()) state.trace = zeros_like_tree(params);
    return state;
  }
  /// {updates, next state}; the updates are to be added to the parameters. Throws TreeError where
  /// trees differ in form and for the state of an sgd with other momentum (none or some),
  /// ShapeError where arrays differ in shape, DtypeError where gradients and trace do in dtype.
  template <class G, class P>
  std::pair<G, SgdState<G>> update(const G& grads, const SgdState<G>& state, const P& params,
                                   Loc loc = Loc::current()) const {
    const OpScope at("sgd", loc);
    check_count("sgd", state.count);
    if (state.trace.has_value() == options_.momentum.is_zero()) {
      internal::throw_part("sgd", "trace", state.trace.has_value(),
                           "momentum is " + options_.momentum.text());
    }
    G updates = AddDecayedWeights{options_.weight_decay, options_.mask}
                    .update(grads, EmptyState{}, params)
                    .first;
    SgdState<G> next{std::nullopt, Array()};
    if (state.trace.has_value()) {
      const Hyperparam share = internal::undamped_share(options_.dampening, state.count);
      next.trace = map_with_state(
          [&](const Array& g, const Array& t) {
            return (options_.dampening.is_zero() ? g : share * g) + options_.momentum * t;
          },
          updates, *state.trace);
      updates = options_.nesterov
                    ? map_trainable(
                          [&](const Array& g, const Array& t) { return g + options_.momentum * t; },
                          updates, *next.trace)
                    : *next.trace;
    }
    auto [scaled, count] = ScaleByLearningRate{options_.learning_rate}.update(
        updates, CountState{state.count}, params);
    next.count = std::move(count.count);
    return {std::move(scaled), std::move(next)};
  }

 private:
  SgdOptions options_;
};
/// Gradient descent: sgd({.learning_rate = 0.1, .momentum = 0.9}). Throws as Sgd's constructor.
Sgd sgd(SgdOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
