// SPDX-License-Identifier: Apache-2.0
// NovoGrad (Ginsburg et al. 2019, https://arxiv.org/abs/1905.11286): one second moment for each
// array.
#pragma once

#include "spruce/optim/moments.h"

namespace spruce::optim {

/// updates = b1 * mu + grads / (sqrt(nu + eps_root) + eps) + weight_decay * params, where nu is the
/// running mean of the squared norm of each array of gradients, f[].
struct ScaleByNovograd {
  Hyperparam b1 = 0.9;          ///< share of the trace that an update keeps
  Hyperparam b2 = 0.25;         ///< decay of the mean of squared norms
  Hyperparam eps = 1e-8;        ///< added to the root, outside of it
  Hyperparam eps_root = 0;      ///< added under the root
  Hyperparam weight_decay = 0;  ///< share of the parameters that goes into the trace

  /// Count 0, a trace of zeros, and 0 for each array.
  template <class T>
  AdamState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params),
            map_trainable([](const Array& p) { return zeros({}, p.dtype()); },
                          zeros_like_tree(params))};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, AdamState<G>> update(const G& grads, const AdamState<G>& state, const P& params,
                                    Loc loc = Loc::current()) const {
    const OpScope at("scale_by_novograd", loc);
    check_count("scale_by_novograd", state.count);
    const Array first = state.count == 0;
    AdamState<G> next{next_count(state.count), {}, {}};
    next.nu = internal::map_any_shape(
        [&](const Array& g, const Array& v) {
          internal::check_shape("scale_by_novograd", "squared norm", g, v, {});
          const Array squared = sum(square(g));
          return where(first, squared, running_mean(squared, v, b2));
        },
        grads, state.nu);
    const G direction = internal::map_any_shape(
        [&](const Array& g, const Array& v) { return g / (sqrt(v + eps_root) + eps); }, grads,
        next.nu);
    const G decayed = AddDecayedWeights{weight_decay}.update(direction, EmptyState{}, params).first;
    next.mu =
        map_with_state([&](const Array& d, const Array& m) { return where(first, d, b1 * m + d); },
                       decayed, state.mu);
    return {next.mu, std::move(next)};
  }
};
/// NovoGrad without a learning rate, as a part of chain(). Throws ValueError unless 0 <= b1, b2 < 1
/// and the other numbers are finite and not negative.
ScaleByNovograd scale_by_novograd(ScaleByNovograd o = {}, Loc loc = Loc::current());

/// Options of novograd.
struct NovogradOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam b1 = 0.9;            ///< share of the trace that an update keeps
  Hyperparam b2 = 0.25;           ///< decay of the mean of squared norms
  Hyperparam eps = 1e-6;          ///< added to the root, outside of it
  Hyperparam eps_root = 0;        ///< added under the root
  Hyperparam weight_decay = 0;    ///< share of the parameters that goes into the trace
};
/// NovoGrad. Throws as scale_by_novograd and scale_by_learning_rate.
Chain<ScaleByNovograd, ScaleByLearningRate> novograd(NovogradOptions o = {},
                                                     Loc loc = Loc::current());

}  // namespace spruce::optim
