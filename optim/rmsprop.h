// SPDX-License-Identifier: Apache-2.0
// RMSProp (Hinton 2012, lecture 6e of "Neural networks for machine learning").
#pragma once

#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// State of scale_by_rms.
template <class T>
struct RmsState {
  Array count;          ///< i32[]
  T nu;                 ///< running mean of the squared gradients
  std::optional<T> mu;  ///< running mean of the gradients, where centered
};

/// grads / sqrt(mean of grads^2 + eps), or grads / (sqrt(mean of grads^2) + eps); where centered,
/// the square of the mean of grads is subtracted under the root (Graves 2013).
struct ScaleByRms {
  Hyperparam decay = 0.9;        ///< of the mean of squared gradients
  Hyperparam eps = 1e-8;         ///< added to that mean
  Hyperparam initial_scale = 0;  ///< where the mean starts
  bool eps_in_sqrt = true;       ///< eps under the root; false: outside of it, as in torch.optim
  bool bias_correction = false;  ///< divide the means by 1 - decay^count
  bool centered = false;         ///< subtract the square of the mean gradient

  /// Count 0, the mean of squares at initial_scale, zeros for the mean of gradients if any.
  template <class T>
  RmsState<T> init(const T& params) const {
    RmsState<T> state{zero_count(), full_like_tree(params, initial_scale), std::nullopt};
    if (centered) state.mu = zeros_like_tree(params);
    return state;
  }
  /// {updates, next state}. Throws TreeError where trees differ in form and for a state of the
  /// other kind (centered or not), ShapeError where arrays differ in shape, DtypeError where
  /// gradients and state do in dtype. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, RmsState<G>> update(const G& grads, const RmsState<G>& state, const P&,
                                   Loc loc = Loc::current()) const {
    const OpScope at("scale_by_rms", loc);
    check_count("scale_by_rms", state.count);
    if (state.mu.has_value() != centered) {
      internal::throw_part("scale_by_rms", "mean of gradients", state.mu.has_value(),
                           centered ? "centered is true" : "centered is false");
    }
    RmsState<G> next{next_count(state.count), update_second_moment(grads, state.nu, decay),
                     std::nullopt};
    const auto scaled = [&](const Array& g, const Array& v) {
      return eps_in_sqrt ? g * rsqrt(v + eps) : g / (sqrt(v) + eps);
    };
    const auto unbiased = [&](const Array& m) {
      return bias_correction ? m / optim::bias_correction(decay, next.count, m.dtype()) : m;
    };
    if (!centered) {
      G updates = map_trainable(
          [&](const Array& g, const Array& v) { return scaled(g, unbiased(v)); }, grads, next.nu);
      return {std::move(updates), std::move(next)};
    }
    next.mu = update_moment(grads, *state.mu, decay);
    G updates =
        map_trainable([&](const Array& g, const Array& v,
                          const Array& m) { return scaled(g, unbiased(v) - square(unbiased(m))); },
                      grads, next.nu, *next.mu);
    return {std::move(updates), std::move(next)};
  }
};
/// RMSProp without a learning rate, as a part of chain(). Throws ValueError for a decay outside of
/// 0 <= decay < 1, and for an eps or initial_scale that is negative or not finite.
ScaleByRms scale_by_rms(ScaleByRms options = {}, Loc loc = Loc::current());

/// Options of rmsprop.
struct RmspropOptions {
  Schedule learning_rate = 1e-3;  ///< constant, or a function of the number of updates
  Hyperparam decay = 0.9;         ///< of the mean of squared gradients
  Hyperparam eps = 1e-8;          ///< added to that mean, under the root
  Hyperparam initial_scale = 0;   ///< where the mean starts
  bool centered = false;          ///< subtract the square of the mean gradient (Graves 2013)
  Hyperparam momentum = 0;        ///< 0: none
  bool nesterov = false;          ///< Nesterov's form of the momentum, where there is one
  bool eps_in_sqrt = true;        ///< eps under the root; false: outside of it, as in torch.optim
  bool bias_correction = false;   ///< divide the means by 1 - decay^count
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

/// scale_by_rms, times the learning rate, then momentum, as Optax orders them.
class Rmsprop {
 public:
  /// Keeps the options; there is no state besides that of init(). Throws ValueError for options out
  /// of range: a decay outside of 0 <= decay < 1, a momentum outside of 0..1, others that are
  /// negative or not finite.
  explicit Rmsprop(RmspropOptions options, Loc loc = Loc::current());

  /// Count 0, the mean of squares at initial_scale, and zeros for what the options ask for besides.
  template <class T>
  RmspropState<T> init(const T& params) const {
    RmsState<T> rms = rms_.init(params);
    RmspropState<T> state{std::move(rms.nu), std::move(rms.mu), std::nullopt, std::move(rms.count)};
    if (!trace_.decay.is_zero()) state.trace = zeros_like_tree(params);
    return state;
  }
  /// {updates, next state}; the updates are to be added to the parameters. Throws TreeError where
  /// trees differ in form and for the state of an rmsprop with other options, ShapeError where
  /// arrays differ in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, RmspropState<G>> update(const G& grads, const RmspropState<G>& state,
                                       const P& params, Loc loc = Loc::current()) const {
    const OpScope at("rmsprop", loc);
    if (state.trace.has_value() == trace_.decay.is_zero()) {
      internal::throw_part("rmsprop", "trace", state.trace.has_value(),
                           "momentum is " + trace_.decay.text());
    }
    auto [scaled, rms] = rms_.update(grads, RmsState<G>{state.count, state.nu, state.mu}, params);
    G updates = rate_.update(scaled, CountState{state.count}, params).first;
    RmspropState<G> next{std::move(rms.nu), std::move(rms.mu), std::nullopt, std::move(rms.count)};
    if (state.trace.has_value()) {
      auto [traced, trace] = trace_.update(updates, TraceState<G>{*state.trace}, params);
      updates = std::move(traced);
      next.trace = std::move(trace.trace);
    }
    return {std::move(updates), std::move(next)};
  }

 private:
  ScaleByRms rms_;
  ScaleByLearningRate rate_;
  Trace trace_;
};
/// RMSProp: rmsprop({.learning_rate = 1e-2, .momentum = 0.9}).
/// Throws as Rmsprop's constructor.
Rmsprop rmsprop(RmspropOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
