// SPDX-License-Identifier: Apache-2.0
// D-Adaptation for AdamW (Defazio and Mishchenko 2023, https://arxiv.org/abs/2301.07733).
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of dadapt_adamw.
struct DadaptAdamWOptions {
  Schedule learning_rate = 1;   ///< factor of the estimate; a schedule may fall from 1
  Hyperparam b1 = 0.9;          ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;        ///< decay of the mean of squared gradients
  Hyperparam eps = 1e-8;        ///< added to the root
  Hyperparam estim_lr0 = 1e-6;  ///< the first estimate, above 0
  Hyperparam weight_decay = 0;  ///< decoupled: params lose rate * weight_decay * params
};

/// State of dadapt_adamw.
template <class T>
struct DadaptAdamWState {
  T exp_avg;                 ///< running mean of the gradients times the rate
  T exp_avg_sq;              ///< running mean of the squared gradients
  T grad_sum;                ///< running mean of the gradients times the rate, slower
  Array estim_lr;            ///< f[]: the estimate
  Array numerator_weighted;  ///< f[]
  Array count;               ///< i32[]
};

/// AdamW that estimates its learning rate.
class DadaptAdamW {
 public:
  /// Throws ValueError for options out of range.
  DadaptAdamW(DadaptAdamWOptions options, Loc loc) : options_(std::move(options)) {
    const LocScope at(loc);
    using spruce::internal::Range;
    const char* name = "dadapt_adamw";
    options_.learning_rate.check(name);
    options_.b1.check(name, "b1", Range::kDecay);
    options_.b2.check(name, "b2", Range::kDecay);
    options_.eps.check(name, "eps", Range::kNotNegative);
    options_.estim_lr0.check(name, "estim_lr0", Range::kPositive);
    options_.weight_decay.check(name, "weight_decay", Range::kNotNegative);
  }

  /// Zeros, and the first estimate.
  template <class T>
  DadaptAdamWState<T> init(const T& params) const {
    const T zeros_of = zeros_like_tree(params);
    const Dtype wide = internal::widest_dtype(params);
    return {zeros_of,        zeros_of,    zeros_of, options_.estim_lr0.in(wide),
            zeros({}, wide), zero_count()};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, DadaptAdamWState<G>> update(const G& grads, const DadaptAdamWState<G>& state,
                                           const P& params, Loc loc = Loc::current()) const {
    const OpScope at("dadapt_adamw", loc);
    check_count("dadapt_adamw", state.count);
    const auto& o = options_;
    const Dtype wide = internal::widest_dtype(params);
    const Array count = next_count(state.count), before = astype(state.estim_lr, wide);
    const Hyperparam rate(o.learning_rate.rate("dadapt_adamw", state.count).in(wide)*before *
                          sqrt(bias_correction(o.b2, count, wide)) /
                          bias_correction(o.b1, count, wide));
    const Hyperparam slow(sqrt(o.b2.in(wide)));
    // In f32 at least, as all that eps is added to: it is 0 in f16.
    const auto over_root = [&](const Array& x, const Array& v) {
      return internal::widened(x) / (sqrt(internal::widened(v)) + o.eps);
    };
    const G products =
        map_with_state([&](const Array& g, const Array& s,
                           const Array& v) { return internal::widened(g) * over_root(s, v); },
                       grads, state.grad_sum, state.exp_avg_sq);
    const Array along = internal::total([](const Array& a) { return sum(a); }, products);
    const G stepped = map_trainable([&](const Array& g) { return rate * g; }, grads);
    DadaptAdamWState<G> next{update_moment(stepped, state.exp_avg, o.b1),
                             update_second_moment(grads, state.exp_avg_sq, o.b2),
                             update_moment(stepped, state.grad_sum, slow),
                             {},
                             {},
                             count};
    next.numerator_weighted =
        running_mean(rate * astype(along, wide), astype(state.numerator_weighted, wide), slow);
    const Array size = internal::total([](const Array& s) { return sum(abs(s)); }, next.grad_sum);
    // Before the first gradient that is not 0 there is nothing to estimate from.
    const Array none = size == 0;
    const Array by = (1 - slow) * astype(where(none, ones_like(size), size), wide);
    next.estim_lr = where(none, before, maximum(before, next.numerator_weighted / by));
    G updates = map_trainable(
        [&](const Array& m, const Array& v) { return astype(over_root(-m, v), m.dtype()); },
        next.exp_avg, next.exp_avg_sq);
    const Hyperparam lost = -rate * o.weight_decay;
    if (!o.weight_decay.is_zero()) {
      updates = map_trainable([&](const Array& u, const Array& p) { return u + lost * p; }, updates,
                              params);
    }
    return {std::move(updates), std::move(next)};
  }

 private:
  DadaptAdamWOptions options_;
};
/// AdamW by D-Adaptation: dadapt_adamw() needs no learning rate. Throws as DadaptAdamW's
/// constructor.
DadaptAdamW dadapt_adamw(DadaptAdamWOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
