// SPDX-License-Identifier: Apache-2.0
// Prodigy (Mishchenko and Defazio 2023, https://arxiv.org/abs/2306.06101): Adam that estimates its
// learning rate from the distance gone.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// Options of prodigy.
struct ProdigyOptions {
  Schedule learning_rate = 1;         ///< factor of the estimate; a schedule may fall from 1
  Hyperparam b1 = 0.9;                ///< decay of the mean of gradients
  Hyperparam b2 = 0.999;              ///< decay of the mean of squared gradients
  std::optional<Hyperparam> b3 = {};  ///< decay of the sums of the estimate; none: sqrt(b2)
  Hyperparam eps = 1e-8;              ///< added to the root, times the estimate
  Hyperparam estim_lr0 = 1e-6;        ///< the first estimate, above 0
  Hyperparam estim_lr_coef = 1;       ///< factor of each later estimate
  Hyperparam weight_decay = 0;        ///< decoupled: params lose rate * weight_decay * params
  bool safeguard_warmup = false;      ///< for schedules that begin with a warmup
};

/// State of prodigy.
template <class T>
struct ProdigyState {
  T exp_avg;                 ///< running mean of the gradients times the estimate
  T exp_avg_sq;              ///< the same of their squares
  T grad_sum;                ///< weighted sum of the gradients
  T params0;                 ///< the first parameters
  Array estim_lr;            ///< f[]: the estimate
  Array numerator_weighted;  ///< f[]
  Array count;               ///< i32[]
};

/// Prodigy.
class Prodigy {
 public:
  /// Throws ValueError for options out of range.
  Prodigy(ProdigyOptions options, Loc loc);

  /// Zeros, the parameters, and the first estimate.
  template <class T>
  ProdigyState<T> init(const T& params) const {
    const T zeros_of = zeros_like_tree(params);
    const Dtype wide = internal::widest_dtype(params);
    return {zeros_of,        zeros_of,    zeros_of, as_arrays(params), options_.estim_lr0.in(wide),
            zeros({}, wide), zero_count()};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, ProdigyState<G>> update(const G& grads, const ProdigyState<G>& state,
                                       const P& params, Loc loc = Loc::current()) const {
    const OpScope at("prodigy", loc);
    check_count("prodigy", state.count);
    const auto& o = options_;
    const Dtype wide = internal::widest_dtype(params);
    const Array count = next_count(state.count), before = astype(state.estim_lr, wide);
    const Hyperparam d(before), d0(o.estim_lr0.in(wide));
    const Hyperparam rate(o.learning_rate.rate("prodigy", state.count).in(wide)*before *
                          sqrt(bias_correction(o.b2, count, wide)) /
                          bias_correction(o.b1, count, wide));
    const Hyperparam b3(o.b3 ? o.b3->in(wide) : sqrt(o.b2.in(wide)));

    // In f32 at least, as all that eps is added to: it is 0 in f16.
    const G gone = map_trainable(
        [](const Array& g, const Array& p0, const Array& p) {
          const Array wide_g = internal::widened(g);
          return wide_g * astype(internal::widened(p0) - internal::widened(p), wide_g.dtype());
        },
        grads, state.params0, params);
    const Array along = internal::total([](const Array& a) { return sum(a); }, gone);
    const G dg = map_trainable([&](const Array& g) { return d * g; }, grads);
    ProdigyState<G> next{update_moment(dg, state.exp_avg, o.b1),
                         update_second_moment(dg, state.exp_avg_sq, o.b2),
                         {},
                         state.params0,
                         {},
                         {},
                         count};
    const Hyperparam share = (o.safeguard_warmup ? d : rate) / d0;
    next.grad_sum = map_with_state(
        [&](const Array& x, const Array& s) { return b3 * s + share * x; }, dg, state.grad_sum);
    next.numerator_weighted = b3 * astype(state.numerator_weighted, wide) + (d / d0 * rate) * along;
    const Array size = internal::total([](const Array& s) { return sum(abs(s)); }, next.grad_sum);
    // Before the first gradient that is not 0 there is nothing to estimate from.
    const Array none = size == 0;
    const Array estimate =
        o.estim_lr_coef * next.numerator_weighted / where(none, ones_like(size), size);
    next.estim_lr = where(none, before, maximum(before, estimate));
    const Hyperparam scaled_eps(o.eps * next.estim_lr);
    G updates = map_trainable(
        [&](const Array& m, const Array& v) {
          const Array by = sqrt(internal::widened(v)) + scaled_eps;
          return astype(-rate * internal::widened(m) / by, m.dtype());
        },
        next.exp_avg, next.exp_avg_sq);
    if (!o.weight_decay.is_zero()) {
      const Hyperparam share_of_params = -rate * o.weight_decay;
      updates = map_trainable(
          [&](const Array& u, const Array& p) { return u + share_of_params * p; }, updates, params);
    }
    return {std::move(updates), std::move(next)};
  }

 private:
  ProdigyOptions options_;
};
/// Prodigy: prodigy() needs no learning rate. Throws as Prodigy's constructor.
Prodigy prodigy(ProdigyOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
