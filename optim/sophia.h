// SPDX-License-Identifier: Apache-2.0
// Sophia (Liu et al. 2023, https://arxiv.org/abs/2305.14342): a running mean of gradients, divided
// by an estimate of the diagonal of the Hessian and clipped.
#pragma once

#include "spruce/core/random/random.h"
#include "spruce/optim/moments.h"
#include "spruce/transforms/control/branches/cond.h"
#include "spruce/transforms/derive/grad.h"
#include "spruce/transforms/derive/jvp.h"

namespace spruce::optim {

namespace internal {

// The derivative of the gradient along random signs, times these: its mean is the diagonal of the
// Hessian.
template <class F, class P>
P hessian_diagonal(const F& objective, const P& params, const Key& key) {
  const auto n = static_cast<int64_t>(trainable_leaves(params).size());
  const Key keys = random::split(key, n > 0 ? n : 1);
  int64_t leaf = 0;
  const P signs = map_trainable(
      [&](const Array& p) {
        return random::rademacher(keys[leaf++], p.shape(), {.dtype = p.dtype()});
      },
      params);
  const P product = jvp(grad(objective), std::tuple{params}, std::tuple{signs}).second;
  return map_trainable([](const Array& h, const Array& s) { return h * s; }, product, signs);
}

}  // namespace internal

/// State of hutchinson_estimator_diag_hessian.
struct HutchinsonState {
  Key key;  ///< for the next estimate
};
/// Updates that are an estimate of the diagonal of the Hessian (Hutchinson 1989, by Bekas,
/// Kokiopoulou and Saad 2007): the derivative of the gradient along random signs, times the signs.
struct HutchinsonEstimator {
  Key key = Key(0);  ///< where the signs come from

  /// The key.
  template <class T>
  HutchinsonState init(const T&) const {
    return {key};
  }
  /// {estimate, next state}; `objective(params)` is the loss, f[]. The gradients are not looked at.
  template <class G, class P, class F>
  requires std::is_invocable_r_v<Array, const F&, const P&> std::pair<G, HutchinsonState> update(
      const G&, const HutchinsonState& state, const P& params, const F& objective,
      Loc loc = Loc::current())
  const {
    const OpScope at("hutchinson_estimator_diag_hessian", loc);
    const Key keys = random::split(state.key, 2);
    return {internal::hessian_diagonal(objective, params, keys[1]), {keys[0]}};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, HutchinsonState> update(const G& grads, const HutchinsonState& state,
                                       const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: hutchinson_estimator_diag_hessian needs the function of the loss: "
                  "update(grads, state, params, objective)");
    return {grads, state};
  }
};
/// Hutchinson's estimate of the diagonal of the Hessian in place of the updates; sophia takes it at
/// each update_interval-th update.
inline HutchinsonEstimator hutchinson_estimator_diag_hessian(Key key = Key(0)) { return {key}; }

/// State of sophia.
template <class T>
struct SophiaState {
  Array count;  ///< i32[]
  T mu;         ///< running mean of the gradients
  T nu;         ///< the same of the estimates of the Hessian's diagonal
  Key key;      ///< for the next estimate
};

/// updates = mu_hat / max(gamma * nu, eps), clipped to -clip_threshold..clip_threshold. The
/// estimate (Hutchinson's) is made at each update_interval-th update, from the derivative of the
/// gradient along random signs.
struct ScaleBySophia {
  Hyperparam b1 = 0.965;                                     ///< decay of the mean of gradients
  Hyperparam b2 = 0.99;                                      ///< decay of the mean of estimates
  Hyperparam eps = 1e-8;                                     ///< the least that is divided by
  Hyperparam gamma = 0.01;                                   ///< factor of the estimates
  std::optional<Hyperparam> clip_threshold = Hyperparam(1);  ///< the largest update; or none
  int64_t update_interval = 10;                              ///< updates with one estimate
  Key key = Key(0);                                          ///< where the signs come from

  /// Count 0 and zeros.
  template <class T>
  SophiaState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params), zeros_like_tree(params), key};
  }
  /// {updates, next state}; `objective(params)` is the loss on this batch, f[], without which there
  /// is no estimate. Throws TreeError where trees differ in form, ShapeError where arrays do in
  /// shape, DtypeError where gradients and state do in dtype.
  template <class G, class P, class F>
  requires std::is_invocable_r_v<Array, const F&, const P&> std::pair<G, SophiaState<G>> update(
      const G& grads, const SophiaState<G>& state, const P& params, const F& objective,
      Loc loc = Loc::current())
  const {
    const OpScope at("scale_by_sophia", loc);
    check_count("scale_by_sophia", state.count);
    SophiaState<G> next{next_count(state.count), update_moment(grads, state.mu, b1), {}, {}};
    G updates = map_with_state(
        [&](const Array& m, const Array& h) {
          const Array u = m / bias_correction(b1, next.count, m.dtype()) /
                          maximum(gamma * h, eps.in(h.dtype()));
          if (!clip_threshold) return u;
          const Array most = clip_threshold->in(u.dtype());
          return spruce::clip(u, -most, most);
        },
        next.mu, state.nu);
    const auto estimate = [&] {
      const Key keys = random::split(state.key, 2);
      return std::pair{
          update_moment(internal::hessian_diagonal(objective, params, keys[1]), state.nu, b2),
          keys[0]};
    };
    const Array due = remainder(state.count, static_cast<int32_t>(update_interval)) == 0;
    std::tie(next.nu, next.key) = cond(due, estimate, [&] {
      return std::pair{state.nu, state.key};
    });
    return {std::move(updates), std::move(next)};
  }
  /// Does not compile: the loss is missing.
  template <class G, class P>
  std::pair<G, SophiaState<G>> update(const G& grads, const SophiaState<G>& state, const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: sophia needs the function of the loss: update(grads, state, params, "
                  "objective)");
    return {grads, state};
  }
};
/// Sophia without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1,
/// eps and gamma are finite and not negative, clip_threshold is positive and update_interval at
/// least 1.
ScaleBySophia scale_by_sophia(ScaleBySophia options = {}, Loc loc = Loc::current());

/// Options of sophia.
struct SophiaOptions {
  Schedule learning_rate = 1e-3;   ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.965;           ///< decay of the mean of gradients
  Hyperparam b2 = 0.99;            ///< decay of the mean of estimates
  Hyperparam eps = 1e-8;           ///< the least that is divided by
  Hyperparam weight_decay = 1e-4;  ///< decoupled: params lose learning_rate * weight_decay * params
  Mask mask = {};                  ///< which parameters decay; empty: all of them
  Hyperparam gamma = 0.01;         ///< factor of the estimates
  std::optional<Hyperparam> clip_threshold = Hyperparam(1);  ///< the largest update; or none
  int64_t update_interval = 10;                              ///< updates with one estimate
  Key key = Key(0);                                          ///< where the signs come from
};
/// Sophia: sophia().update(grads, state, params, objective), where objective(params) is the loss.
/// Throws as its parts.
Chain<ScaleBySophia, AddDecayedWeights, ScaleByLearningRate> sophia(SophiaOptions o = {},
                                                                    Loc loc = Loc::current());

}  // namespace spruce::optim
