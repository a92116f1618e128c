// SPDX-License-Identifier: Apache-2.0
// RMSProp (Hinton 2012, lecture 6e of "Neural networks for machine learning").
#pragma once

#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// Options of rmsprop.
struct RmspropOptions {
  Schedule learning_rate = 1e-3f;  ///< constant, or a function of the number of updates
  float decay = 0.9f;              ///< of the mean of squared gradients
  float eps = 1e-8f;               ///< added to that mean, under the root
  float initial_scale = 0;         ///< where the mean starts
  bool centered = false;           ///< subtract the square of the mean gradient (Graves 2013)
  float momentum = 0;              ///< 0: none
  bool nesterov = false;           ///< Nesterov's form of the momentum, where there is one
};

/// State of rmsprop: the mean of squared gradients; that of gradients where centered; the trace
/// where there is momentum.
template <class T>
struct RmspropState {
  T nu;                    ///< running mean of the squared gradients
  std::optional<T> mu;     ///< running mean of the gradients, where centered
  std::optional<T> trace;  ///< running sum of the scaled updates, where there is momentum
  Array count;             ///< i32[]
};

/// grads / sqrt(mean of grads^2 + eps), times the learning rate, then momentum, as Optax orders
/// them.
class Rmsprop {
 public:
  /// Keeps the options; there is no state besides that of init(). Throws ValueError for options out
  /// of range: a decay outside of 0 <= decay < 1, a momentum outside of 0..1, others that are
  /// negative or not finite.
  explicit Rmsprop(RmspropOptions options, Loc loc = Loc::current());

  /// Count 0, the mean of squares at initial_scale, and zeros for what the options ask for besides.
  template <class T>
  RmspropState<T> init(const T& params) const {
    RmspropState<T> state;
    state.nu = internal::map_floating(
        [&](const Array& p) { return full(p.shape(), options_.initial_scale, p.dtype()); },
        internal::zeros_like_tree(params));
    if (options_.centered) state.mu = internal::zeros_like_tree(params);
    if (options_.momentum != 0) state.trace = internal::zeros_like_tree(params);
    state.count = internal::zero_count();
    return state;
  }
  /// {updates, next state}; the updates are to be added to the parameters. Throws TreeError where
  /// trees differ in form and for the state of an rmsprop with other options, ShapeError where
  /// arrays differ in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, RmspropState<G>> update(const G& grads, const RmspropState<G>& state,
                                       const P& params, Loc loc = Loc::current()) const {
    const OpScope at("rmsprop", loc);
    internal::check_count("rmsprop", state.count);
    if (state.trace.has_value() != (options_.momentum != 0)) {
      internal::throw_part("rmsprop", "trace", state.trace.has_value(),
                           "momentum is " + spruce::internal::number_text(options_.momentum));
    }
    if (state.mu.has_value() != options_.centered) {
      internal::throw_part("rmsprop", "mean of gradients", state.mu.has_value(),
                           options_.centered ? "centered is true" : "centered is false");
    }
    const float d = options_.decay;
    RmspropState<G> next;
    next.nu = internal::map_with_state(
        [&](const Array& g, const Array& v) { return (1 - d) * square(g) + d * v; }, grads,
        state.nu);
    G updates = grads;
    if (state.mu.has_value()) {
      next.mu = internal::map_with_state(
          [&](const Array& g, const Array& m) { return (1 - d) * g + d * m; }, grads, *state.mu);
      updates = internal::map_floating(
          [&](const Array& g, const Array& v, const Array& m) {
            return g * rsqrt(v - square(m) + options_.eps);
          },
          grads, next.nu, *next.mu);
    } else {
      updates = internal::map_floating(
          [&](const Array& g, const Array& v) { return g * rsqrt(v + options_.eps); }, grads,
          next.nu);
    }
    auto [scaled, count] = ScaleByLearningRate{options_.learning_rate}.update(
        updates, CountState{state.count}, params);
    next.count = std::move(count.count);
    if (!state.trace.has_value()) return {std::move(scaled), std::move(next)};
    auto [traced, trace] = Trace{options_.momentum, options_.nesterov}.update(
        scaled, TraceState<G>{*state.trace}, params);
    next.trace = std::move(trace.trace);
    return {std::move(traced), std::move(next)};
  }

 private:
  RmspropOptions options_;
};
/// RMSProp: rmsprop({.learning_rate = 1e-2f, .momentum = 0.9f}).
/// Throws as Rmsprop's constructor.
inline Rmsprop rmsprop(RmspropOptions options = {}, Loc loc = Loc::current()) {
  return Rmsprop(std::move(options), loc);
}

}  // namespace spruce::optim
