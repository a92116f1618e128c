// SPDX-License-Identifier: Apache-2.0
// Schedule-free learning (Defazio et al. 2024, https://arxiv.org/abs/2405.15682): an average of the
// parameters takes the place of a falling learning rate.
#pragma once

#include "spruce/optim/rmsprop.h"
#include "spruce/optim/schedules.h"

namespace spruce::optim {

/// Options of schedule_free.
struct ScheduleFreeOptions {
  Schedule learning_rate = 1e-2;   ///< that of the base optimizer, which weights the average
  Hyperparam b1 = 0.9;             ///< share of the average in the parameters, above 0
  Hyperparam weight_lr_power = 2;  ///< power of the learning rate in the weight
};

/// State of schedule_free.
template <class T, class S>
struct ScheduleFreeState {
  Array b1;          ///< f[]
  Array weight_sum;  ///< f[]
  Array step_count;  ///< i32[], from 1
  Array max_lr;      ///< f[]: the largest learning rate so far
  S base;            ///< the state of the base optimizer
  T z;               ///< the parameters of the base optimizer
};

/// The parameters to evaluate a model with: the average x, from the parameters y = b1 x + (1 - b1)
/// z that gradients are taken at.
template <class T, class S>
T schedule_free_eval_params(const ScheduleFreeState<T, S>& state, const T& params,
                            Loc loc = Loc::current()) {
  const OpScope at("schedule_free_eval_params", loc);
  const Hyperparam b1(state.b1);
  return map_trainable([&](const Array& y, const Array& z) { return (y - (1 - b1) * z) / b1; },
                       params, state.z);
}

/// A base optimizer steps from z; the parameters lie between z and the average of all z.
template <class T>
class ScheduleFree : public internal::Wrapper<ScheduleFree<T>> {
 public:
  /// Throws ValueError unless 0 < b1 <= 1 and the other numbers are finite and not negative.
  ScheduleFree(T base, ScheduleFreeOptions options, Loc loc)
      : base_(std::move(base)), options_(std::move(options)) {
    const LocScope at(loc);
    using spruce::internal::Range;
    options_.learning_rate.check("schedule_free");
    options_.b1.check("schedule_free", "b1", Range::kShare);
    options_.b1.check("schedule_free", "b1", Range::kPositive);
    options_.weight_lr_power.check("schedule_free", "weight_lr_power", Range::kNotNegative);
  }

  /// The parameters as z, and the state of the base optimizer.
  template <class P>
  auto init(const P& params, Loc loc = Loc::current()) const {
    const LocScope at(loc);
    const Dtype wide = internal::widest_dtype(params);
    return ScheduleFreeState<P, decltype(base_.init(params))>{
        options_.b1.in(wide), zeros({}, wide),    zero_count() + 1,
        zeros({}, wide),      base_.init(params), as_arrays(params)};
  }

 private:
  friend class internal::Wrapper<ScheduleFree>;

  template <class G, class S, class P, class... E>
  std::pair<G, S> apply(const G& grads, const S& state, const P& params, const E&... extra) const {
    check_count("schedule_free", state.step_count);
    const Dtype wide = state.max_lr.dtype();
    const Array rate = options_.learning_rate.rate("schedule_free", state.step_count).in(wide);
    const Array most = maximum(state.max_lr, rate);
    const Array weight = power(most, options_.weight_lr_power.in(wide));
    const Array all = state.weight_sum + weight;
    const Array some = logical_not(all == 0);
    const Hyperparam c(where(some, weight / where(some, all, ones_like(all)), zeros_like(all)));
    const Hyperparam& b1 = options_.b1;
    auto [updates, base] = internal::update_part(base_, grads, state.base, params, extra...);
    const G z = apply_updates(state.z, updates);
    G change = map_trainable(
        [&](const Array& y, const Array& before, const Array& now) {
          const Array x = (1 - c) * ((y - (1 - b1) * before) / b1) + c * now;
          return b1 * x + (1 - b1) * now - y;
        },
        params, state.z, z);
    return {std::move(change),
            {state.b1, all, next_count(state.step_count), most, std::move(base), z}};
  }

  T base_;
  ScheduleFreeOptions options_;
};
/// schedule_free(sgd({.learning_rate = 0.1}), {.learning_rate = 0.1}); see
/// schedule_free_eval_params. Throws ValueError unless 0 < b1 <= 1 and the other numbers are finite
/// and not negative.
template <class T>
ScheduleFree<T> schedule_free(T base, ScheduleFreeOptions options = {}, Loc loc = Loc::current()) {
  return ScheduleFree<T>(std::move(base), std::move(options), loc);
}

/// Options of schedule_free_sgd.
struct ScheduleFreeSgdOptions {
  Schedule learning_rate = 1;      ///< constant; a schedule for a warmup
  Hyperparam b1 = 0.9;             ///< share of the average in the parameters, above 0
  Hyperparam weight_decay = 0;     ///< weight_decay * params is added to the gradients
  Hyperparam weight_lr_power = 2;  ///< power of the learning rate in the weight
};
/// Schedule-free gradient descent. Throws as its parts.
ScheduleFree<Sgd> schedule_free_sgd(ScheduleFreeSgdOptions o = {}, Loc loc = Loc::current());

/// Options of schedule_free_adamw.
struct ScheduleFreeAdamWOptions {
  Schedule learning_rate = 2.5e-3;  ///< constant; a schedule for a warmup
  Hyperparam b1 = 0.9;              ///< share of the average in the parameters, above 0
  Hyperparam b2 = 0.999;            ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;            ///< added to the root
  Hyperparam weight_decay = 0;      ///< decoupled weight decay
  Hyperparam weight_lr_power = 2;   ///< power of the learning rate in the weight
};
/// Schedule-free AdamW. Throws as its parts.
ScheduleFree<Chain<ScaleByRms, AddDecayedWeights, ScaleByLearningRate>> schedule_free_adamw(
    ScheduleFreeAdamWOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
