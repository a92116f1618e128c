// SPDX-License-Identifier: Apache-2.0
// Lookahead (Zhang et al. 2019, https://arxiv.org/abs/1907.08610).
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of lookahead.
struct LookaheadOptions {
  int64_t sync_period = 6;  ///< updates of the fast weights from one synchronization to the next
  Hyperparam slow_step_size = 0.5;  ///< how far the slow weights go towards the fast ones, 0 to 1
  bool reset_state = false;         ///< the fast optimizer begins anew at each synchronization
};

/// State of lookahead.
template <class T, class S>
struct LookaheadState {
  S fast;                  ///< the state of the fast optimizer
  T slow;                  ///< the slow weights: those to evaluate a model with
  Array steps_since_sync;  ///< i32[]
};

/// An optimizer whose parameters (the fast weights) are set, each sync_period updates, to slow
/// weights that have moved a share of the way towards them. Where Optax has pairs of fast and slow
/// parameters, the slow ones are in the state here.
template <class T>
class Lookahead : public internal::Wrapper<Lookahead<T>> {
 public:
  /// Throws ValueError for a sync_period below 1 and a slow_step_size outside of 0..1.
  Lookahead(T fast, LookaheadOptions options, Loc loc)
      : fast_(std::move(fast)), options_(std::move(options)) {
    const LocScope at(loc);
    internal::check_steps("lookahead", "sync_period", options_.sync_period);
    options_.slow_step_size.check("lookahead", "slow_step_size", spruce::internal::Range::kShare);
  }

  /// The state of the fast optimizer, the parameters as slow weights, count 0.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return LookaheadState<P, decltype(fast_.init(params))>{fast_.init(params), params,
                                                           zero_count()};
  }

 private:
  friend class internal::Wrapper<Lookahead>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("lookahead", state.steps_since_sync);
    auto [updates, fast] = internal::update_part(fast_, grads, state.fast, params, extra...);
    const Array sync = state.steps_since_sync >= static_cast<int32_t>(options_.sync_period) - 1;
    const G slow = map_with_state(
        [&](const Array& s, const Array& p, const Array& u) {
          return where(sync, s + options_.slow_step_size * (p + u - s), s);
        },
        state.slow, params, updates);
    updates = map_trainable(
        [&](const Array& u, const Array& p, const Array& s) { return where(sync, s - p, u); },
        updates, params, slow);
    if (options_.reset_state) fast = internal::where_tree(sync, fast_.init(params), fast);
    return {std::move(updates),
            {std::move(fast), slow, where(sync, 0, next_count(state.steps_since_sync))}};
  }

  T fast_;
  LookaheadOptions options_;
};
/// lookahead(adam(), {.sync_period = 5, .slow_step_size = 0.5}). Throws ValueError for a
/// sync_period below 1 and a slow_step_size outside of 0..1.
template <class T>
Lookahead<T> lookahead(T fast, LookaheadOptions options = {}, Loc loc = Loc::current()) {
  return Lookahead<T>(std::move(fast), std::move(options), loc);
}

}  // namespace spruce::optim
