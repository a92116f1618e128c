// SPDX-License-Identifier: Apache-2.0
// Sharpness-aware minimization (Foret et al. 2021, https://arxiv.org/abs/2010.01412).
#pragma once

#include "spruce/optim/clip.h"
#include "spruce/optim/sgd.h"

namespace spruce::optim {

/// Options of sam.
struct SamOptions {
  int64_t sync_period = 2;   ///< gradients for one step of the parameters: one less ascend
  bool reset_state = true;   ///< the adversary begins anew at each step of the parameters
  bool opaque_mode = false;  ///< all gradients of a step in one update, by a function
};

/// State of sam.
template <class T, class S, class A>
struct SamState {
  Array steps_since_sync;  ///< i32[]
  S optimizer;             ///< the state of the optimizer
  A adversary;             ///< the state of the adversary
  std::optional<T> cache;  ///< the parameters of the last step; none in opaque mode
};

/// Ascends by an adversary for sync_period - 1 gradients, then takes the step of the optimizer for
/// the gradient there, from where it began.
template <class T, class A>
class Sam {
 public:
  /// Throws ValueError for a sync_period below 1.
  Sam(T optimizer, A adversary, SamOptions options, Loc loc)
      : optimizer_(std::move(optimizer)), adversary_(std::move(adversary)), options_(options) {
    const LocScope at(loc);
    internal::check_steps("sam", "sync_period", options_.sync_period);
  }

  /// Both states, and the parameters unless the mode is opaque.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    SamState<P, decltype(optimizer_.init(params)), decltype(adversary_.init(params))> state{
        zero_count(), optimizer_.init(params), adversary_.init(params), std::nullopt};
    if (!options_.opaque_mode) state.cache = params;
    return state;
  }
  /// {updates, next state}: the parameters move up for sync_period - 1 updates and take the step at
  /// the last one. Throws TreeError for a state of opaque mode, and as optimizer and adversary do.
  template <class G, class S, class P>
  std::pair<G, S> update(const G& grads, const S& state, const P& params,
                         Loc loc = Loc::current()) const {
    const LocScope at(loc);
    check(state, false);
    const Array first = state.steps_since_sync == 0;
    const Array last = state.steps_since_sync >= static_cast<int32_t>(options_.sync_period) - 1;
    auto [up, adversary] = adversary_.update(grads, state.adversary, params);
    P from = map_trainable([&](const Array& p, const Array& c) { return where(first, p, c); },
                           params, *state.cache);
    auto [down, optimizer] = optimizer_.update(grads, state.optimizer, from);
    G updates = map_trainable([&](const Array& c, const Array& p, const Array& d,
                                  const Array& u) { return where(last, c - p + d, -u); },
                              from, params, down, up);
    S next{where(last, 0, next_count(state.steps_since_sync)),
           internal::where_tree(last, optimizer, state.optimizer),
           internal::where_tree(
               last, options_.reset_state ? adversary_.init(params) : state.adversary, adversary),
           std::move(from)};
    return {std::move(updates), std::move(next)};
  }
  /// Opaque mode: {updates, next state} from the gradients at `params` and grad_fn(params), which
  /// gives those at other parameters. Throws TreeError for a state of the other mode.
  template <class G, class S, class P, class F>
  requires std::is_invocable_r_v<G, const F&, const P&> std::pair<G, S> update(
      const G& grads, const S& state, const P& params, const F& grad_fn, Loc loc = Loc::current())
  const {
    const LocScope at(loc);
    check(state, true);
    G gradient = grads;
    P ascended = params;
    auto adversary = state.adversary;
    for (int64_t i = 1; i < options_.sync_period; ++i) {
      auto [up, next] = adversary_.update(gradient, adversary, ascended);
      ascended = map_trainable([](const Array& p, const Array& u) { return p - u; }, ascended, up);
      adversary = std::move(next);
      gradient = grad_fn(ascended);
    }
    if (options_.reset_state) adversary = adversary_.init(params);
    auto [updates, optimizer] = optimizer_.update(gradient, state.optimizer, params);
    return {std::move(updates),
            {zero_count(), std::move(optimizer), std::move(adversary), std::nullopt}};
  }

 private:
  template <class S>
  void check(const S& state, bool with_function) const {
    check_count("sam", state.steps_since_sync);
    if (options_.opaque_mode != with_function) {
      throw ValueError(options_.opaque_mode
                           ? "sam: opaque_mode is true; give the function of the gradients: "
                             "update(grads, state, params, grad_fn)"
                           : "sam: opaque_mode is false, and a function of the gradients is given; "
                             "leave it out, or set opaque_mode");
    }
    if (state.cache.has_value() == with_function) {
      internal::throw_part("sam", "cache", with_function,
                           with_function ? "opaque_mode is true" : "opaque_mode is false");
    }
  }

  T optimizer_;
  A adversary_;
  SamOptions options_;
};
/// sam(adam(), chain(normalize_by_update_norm({.eps = 0}), sgd({.learning_rate = 0.05}))): the
/// adversary takes steps up of length 0.05. Throws ValueError for a sync_period below 1.
template <class T, class A>
Sam<T, A> sam(T optimizer, A adversary, SamOptions options = {}, Loc loc = Loc::current()) {
  return Sam<T, A>(std::move(optimizer), std::move(adversary), options, loc);
}

}  // namespace spruce::optim
