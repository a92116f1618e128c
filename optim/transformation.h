// SPDX-License-Identifier: Apache-2.0
// Gradient transformations: pairs of pure functions, init and update, over trees. After Optax,
// whose numbers they give.
//
//   auto state = t.init(params);
//   auto [updates, next_state] = t.update(grads, state, params);
//   params = apply_updates(params, updates);
#pragma once

#include "spruce/optim/chain.h"
#include "spruce/optim/mask.h"
#include "spruce/optim/schedule.h"

namespace spruce::optim {

/// The state of a transformation that has none.
struct EmptyState {};

/// params + updates, leaf by leaf, in the dtype of the parameter. Integers, bool, buffers and keys
/// stay as they are. Throws TreeError where the trees differ in form, or the parameters have been
/// moved from; ShapeError where arrays differ in shape.
template <class T, class U>
T apply_updates(const T& params, const U& updates, Loc loc = Loc::current()) {
  const OpScope at("apply_updates", loc);
  internal::check_given("apply_updates", params, updates);
  return map_trainable([](const Array& p, const Array& u) { return astype(p + u, p.dtype()); },
                       params, updates);
}

/// updates * factor.
struct Scale {
  Hyperparam factor;  ///< what each floating leaf is multiplied by

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients * factor, no state}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale", loc);
    return {map_trainable([&](const Array& g) { return factor * g; }, grads), {}};
  }
};
/// A fixed factor as a part of chain(). Throws ValueError unless it is finite.
Scale scale(Hyperparam factor, Loc loc = Loc::current());

/// Updates that are the gradients as they are.
struct Identity {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients, no state}.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc = Loc::current()) const {
    return {grads, {}};
  }
};
/// A part of chain() that changes nothing.
inline Identity identity() { return {}; }

/// Updates of zeros: the parameters stay as they are.
struct SetToZero {
  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {zeros, no state}.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("set_to_zero", loc);
    return {map_trainable([](const Array& g) { return zeros_like(g); }, grads), {}};
  }
};
/// Updates of zeros, for one label of partition(); see freeze() too.
inline SetToZero set_to_zero() { return {}; }

/// A transformation without a state, from a function.
template <class F>
struct Stateless {
  F f;  ///< f(grads, params): the updates, a tree of the form and type of the gradients

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {f(grads, params), no state}.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const LocScope at(loc);
    return {f(grads, params), {}};
  }
};
/// stateless([](const auto& grads, const auto& params) { ... }) as a part of chain().
template <class F>
Stateless<F> stateless(F f) {
  return {std::move(f)};
}

/// State of a transformation that counts its updates.
struct CountState {
  Array count;  ///< i32[]: updates made so far
};

/// updates * factor(count), which may depend on the number of updates.
struct ScaleBySchedule {
  Schedule factor;  ///< a number, or a function of the number of updates

  /// Count 0.
  template <class T>
  CountState init(const T&) const {
    return {zero_count()};
  }
  /// {factor(count) * gradients in their dtypes, count + 1}. The parameters are not looked at.
  template <class G, class P>
  std::pair<G, CountState> update(const G& grads, const CountState& state, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_schedule", loc);
    check_count("scale_by_schedule", state.count);
    const Hyperparam by = factor.at(state.count);
    return {map_trainable([&](const Array& g) { return by * g; }, grads),
            {next_count(state.count)}};
  }
};
/// A factor that depends on the number of updates as a part of chain(). Throws ValueError for a
/// number that is negative or not finite; what a function gives is taken as it is, such as -rate.
ScaleBySchedule scale_by_schedule(Schedule factor, Loc loc = Loc::current());

/// updates * -learning_rate, which may depend on the number of updates.
struct ScaleByLearningRate {
  Schedule learning_rate = 0;  ///< a number, or a function of the number of updates

  /// Count 0.
  template <class T>
  CountState init(const T&) const {
    return {zero_count()};
  }
  /// {-learning_rate(count) * gradients in their dtypes, count + 1}. The parameters are not looked
  /// at.
  template <class G, class P>
  std::pair<G, CountState> update(const G& grads, const CountState& state, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_learning_rate", loc);
    check_count("scale_by_learning_rate", state.count);
    const Hyperparam rate = -learning_rate.rate("scale_by_learning_rate", state.count);
    return {map_trainable([&](const Array& g) { return rate * g; }, grads),
            {next_count(state.count)}};
  }
};
/// The last part of most chains: the step down the gradient. Throws ValueError for a number that
/// is negative or not finite; of what a function gives, see Schedule.
ScaleByLearningRate scale_by_learning_rate(Schedule rate, Loc loc = Loc::current());

/// updates + weight_decay * params (decoupled weight decay, Loshchilov and Hutter 2019), on the
/// leaves for which the mask is true.
struct AddDecayedWeights {
  Hyperparam weight_decay;  ///< share of the parameters that is added, before the learning rate
  Mask mask = {};           ///< a predicate over (path, parameter); empty: all parameters

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients + weight_decay * params, no state}; the gradients where weight_decay is the number
  /// 0. Throws TreeError where trees differ in form, ShapeError where arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("add_decayed_weights", loc);
    if (weight_decay.is_zero()) return {grads, {}};
    const auto decayed = [&](const G& g, const P& p) {
      return map_trainable([&](const Array& x, const Array& w) { return x + weight_decay * w; }, g,
                           p);
    };
    if (!mask) return {decayed(grads, params), {}};
    const std::vector<bool> selected = internal::selection(mask, params);
    internal::check_selection("add_decayed_weights", selected, grads, params);
    return {internal::merge(
                selected,
                decayed(internal::only(selected, grads), internal::only(selected, params)), grads),
            {}};
  }
};
/// Decoupled weight decay as a part of chain(), behind the moments and in front of the learning
/// rate: add_decayed_weights(1e-4, [](const std::string&, const Array& p) { return p.rank() > 1; })
/// leaves biases alone. Throws ValueError for a number that is negative or not finite.
AddDecayedWeights add_decayed_weights(Hyperparam weight_decay, Mask mask = {},
                                      Loc loc = Loc::current());

}  // namespace spruce::optim
