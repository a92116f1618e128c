// SPDX-License-Identifier: Apache-2.0
// MADGRAD (Defazio and Jelassi 2021, https://arxiv.org/abs/2101.11075): AdaGrad by cube roots and
// dual averages.
#pragma once

#include "spruce/optim/transformation.h"

namespace spruce::optim {

/// State of madgrad.
template <class T>
struct MadgradState {
  Array count;    ///< i32[]
  T grad_sum_sq;  ///< weighted sum of the squared gradients
  T s;            ///< weighted sum of the gradients
  T x0;           ///< the first parameters
};

/// params' = momentum * params + (1 - momentum) * (x0 - s / (cbrt(sum of squares) + eps)). The
/// learning rate is within the sums, and nothing comes behind it in a chain.
struct ScaleByMadgrad {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam momentum = 0.9;      ///< share of the parameters that an update keeps
  Hyperparam eps = 1e-6;          ///< added to the learning rate and to the root

  /// Count 0, zeros, and the parameters.
  template <class T>
  MadgradState<T> init(const T& params) const {
    return {zero_count(), zeros_like_tree(params), zeros_like_tree(params), params};
  }
  /// {updates, next state}. Throws TreeError where trees differ in form, ShapeError where arrays do
  /// in shape, DtypeError where gradients and state do in dtype.
  template <class G, class P>
  std::pair<G, MadgradState<G>> update(const G& grads, const MadgradState<G>& state,
                                       const P& params, Loc loc = Loc::current()) const {
    const OpScope at("scale_by_madgrad", loc);
    check_count("scale_by_madgrad", state.count);
    const Dtype wide = internal::widest_dtype(params);
    MadgradState<G> next{next_count(state.count), {}, {}, state.x0};
    const Array rate = learning_rate.rate("scale_by_madgrad", state.count).in(wide) + eps;
    const Hyperparam by(rate * sqrt(astype(next.count, wide)));
    next.grad_sum_sq =
        map_with_state([&](const Array& g, const Array& sum) { return sum + by * square(g); },
                       grads, state.grad_sum_sq);
    next.s =
        map_with_state([&](const Array& g, const Array& s) { return s + by * g; }, grads, state.s);
    G updates = map_with_state(
        [&](const Array& s, const Array& squares, const Array& x0, const Array& p) {
          const Array z = x0 - s / (cbrt(squares) + eps);
          return (1 - momentum) * z + momentum * p - p;
        },
        next.s, next.grad_sum_sq, state.x0, params);
    return {std::move(updates), std::move(next)};
  }
};
/// MADGRAD with its learning rate, as the last part of chain(). Throws ValueError for a momentum
/// outside of 0..1 and other numbers that are negative or not finite.
ScaleByMadgrad scale_by_madgrad(ScaleByMadgrad o = {}, Loc loc = Loc::current());

/// Options of madgrad.
struct MadgradOptions {
  Schedule learning_rate = 1e-2;  ///< constant, or a function of the number of updates
  Hyperparam momentum = 0.9;      ///< share of the parameters that an update keeps
  Hyperparam weight_decay = 0;    ///< weight_decay * params is added to the gradients
  Hyperparam eps = 1e-6;          ///< added to the learning rate and to the root
};
/// MADGRAD. Throws as its parts.
Chain<AddDecayedWeights, ScaleByMadgrad> madgrad(MadgradOptions o = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
