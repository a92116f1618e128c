// SPDX-License-Identifier: Apache-2.0
// Gradient transformations: pairs of pure functions, init and update, over trees. After Optax,
// whose numbers they give.
//
//   auto state = t.init(params);
//   auto [updates, next_state] = t.update(grads, state, params);
//   params = apply_updates(params, updates);
#pragma once

#include <functional>
#include <tuple>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/tree/tree.h"

namespace spruce::optim {

/// The state of a transformation that has none.
struct EmptyState {};

/// A learning rate: a number, or a function of the number of updates made so far (i32[]), such as a
/// lambda.
class Schedule {
 public:
  /// The same rate at every update, kept as f32.
  template <class N>
  requires std::is_arithmetic_v<N> Schedule(N constant) : constant_(static_cast<float>(constant)) {}
  /// A function of the number of updates made so far, i32[] -> f32[], of array operations: under
  /// jit it sees a traced number.
  template <class F>
  requires std::is_invocable_r_v<Array, const F&, const Array&> Schedule(F f) : f_(std::move(f)) {}

  /// True for a number, false for a function.
  bool is_constant() const { return !f_; }
  /// Throws ValueError, naming the operation, for a number that is negative, infinite or NaN.
  void check(const char* op) const {
    if (is_constant())
      spruce::internal::check_range(op, "learning_rate", constant_,
                                    spruce::internal::Range::kNotNegative);
  }
  /// The value at update number `count` (i32[], from 0): f32[].
  Array operator()(const Array& count) const {
    const LocReset reset;
    return f_ ? f_(count) : Array(constant_);
  }

 private:
  float constant_ = 0;
  std::function<Array(const Array&)> f_;
};

namespace internal {

// Throws for leaves of two trees that do not fit; `entries` are those of the first tree.
[[noreturn]] void throw_leaves(const std::vector<tree::Entry>& entries, const Array& a,
                               const Array& b);

// Whether the leaves of all trees have one dtype, as gradients and state do: a state that took
// another one in an update would no longer fit a compiled step or a loop.
enum class Dtypes : uint8_t { kAny, kOne };

inline bool leaves_fit(const Array& a, const Array& b, Dtypes dtypes) {
  return b.defined() && a.shape() == b.shape() &&
         (dtypes == Dtypes::kAny || a.dtype() == b.dtype());
}

// Maps only what is optimized: floating arrays that are no buffers. Other leaves stay as they are
// in the first tree. Throws TreeError where forms differ, ShapeError where shapes do, DtypeError
// where dtypes have to be one and differ.
template <class F, class T, class... Rest>
T map_checked(Dtypes dtypes, F&& f, const T& x, const Rest&... rest) {
  return tree::internal::map_selected(
      "optim", LocScope::current(),
      [](tree::Leaf kind, const Array& a) {
        return kind == tree::Leaf::kArray && a.defined() && is_floating(a.dtype());
      },
      [&](const Array& a, const auto&... others) {
        ((leaves_fit(a, others, dtypes) ? void() : throw_leaves(tree::entries(x), a, others)), ...);
        return f(a, others...);
      },
      x, rest...);
}
template <class F, class T, class... Rest>
T map_floating(F&& f, const T& x, const Rest&... rest) {
  return map_checked(Dtypes::kAny, f, x, rest...);
}
// The same for gradients and a state, whose dtypes have to be one.
template <class F, class T, class... Rest>
T map_with_state(F&& f, const T& x, const Rest&... rest) {
  return map_checked(Dtypes::kOne, f, x, rest...);
}

template <class T>
T zeros_like_tree(const T& x) {
  return tree::map([](const Array& a) { return a.defined() ? zeros_like(a) : a; }, x);
}

/// i32[]: 0.
Array zero_count();
Array next_count(const Array& count);
/// Throws TreeError unless `count` is i32[]: the state did not come from init.
void check_count(const char* op, const Array& count);
/// TreeError: a state has a part that the options do not ask for, or lacks one. `part` is its name,
/// `option` what decides, as "momentum is 0.9".
[[noreturn]] void throw_part(const char* op, const char* part, bool in_state,
                             const std::string& option);
/// 1 - decay^count for bias correction, as a number of that dtype (f16 and bf16 by way of f32);
/// count is i32[].
Array bias_correction(double decay, const Array& count, Dtype dtype);

}  // namespace internal

/// params + updates, leaf by leaf, in the dtype of the parameter. Integers, bool, buffers and keys
/// stay as they are. Throws TreeError where the trees differ in form, ShapeError where arrays do in
/// shape.
template <class T, class U>
T apply_updates(const T& params, const U& updates, Loc loc = Loc::current()) {
  const OpScope at("apply_updates", loc);
  return internal::map_floating(
      [](const Array& p, const Array& u) { return astype(p + u, p.dtype()); }, params, updates);
}

/// updates * factor.
struct Scale {
  float factor;  ///< what each floating leaf is multiplied by

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
    return {internal::map_floating([&](const Array& g) { return factor * g; }, grads), {}};
  }
};
/// A fixed factor as a part of chain(). Throws ValueError unless it is finite.
Scale scale(float factor, Loc loc = Loc::current());

/// State of a transformation that counts its updates.
struct CountState {
  Array count;  ///< i32[]: updates made so far
};

/// updates * -learning_rate, which may depend on the number of updates.
struct ScaleByLearningRate {
  Schedule learning_rate;  ///< a number, or a function of the number of updates

  /// Count 0.
  template <class T>
  CountState init(const T&) const {
    return {internal::zero_count()};
  }
  /// {-learning_rate(count) * gradients in their dtypes, count + 1}. The parameters are not looked
  /// at.
  template <class G, class P>
  std::pair<G, CountState> update(const G& grads, const CountState& state, const P&,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_learning_rate", loc);
    internal::check_count("scale_by_learning_rate", state.count);
    const Array rate = -learning_rate(state.count);
    return {
        internal::map_floating([&](const Array& g) { return astype(rate, g.dtype()) * g; }, grads),
        {internal::next_count(state.count)}};
  }
};
/// The last part of most chains: the step down the gradient. Throws ValueError for a number that
/// is negative or not finite.
ScaleByLearningRate scale_by_learning_rate(Schedule rate, Loc loc = Loc::current());

/// updates + weight_decay * params (decoupled weight decay, Loshchilov and Hutter 2019).
struct AddDecayedWeights {
  double weight_decay;  ///< share of the parameters that is added, before the learning rate

  /// No state.
  template <class T>
  EmptyState init(const T&) const {
    return {};
  }
  /// {gradients + weight_decay * params, no state}. Throws TreeError where trees differ in form,
  /// ShapeError where arrays do in shape.
  template <class G, class P>
  std::pair<G, EmptyState> update(const G& grads, const EmptyState&, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("add_decayed_weights", loc);
    return {
        internal::map_floating([&](const Array& g, const Array& p) { return g + weight_decay * p; },
                               grads, params),
        {}};
  }
};
/// Decoupled weight decay as a part of chain(), behind the moments and in front of the learning
/// rate. Throws ValueError for a number that is negative or not finite.
AddDecayedWeights add_decayed_weights(double weight_decay, Loc loc = Loc::current());

/// Several transformations, one after the other: the updates of each are the gradients of the next.
/// The state is a tuple.
template <class... T>
class Chain {
 public:
  /// The parts in the order in which gradients go through them.
  explicit Chain(T... parts) : parts_(std::move(parts)...) {}

  /// The states of all parts: std::tuple{part.init(params)...}.
  template <class P>
  auto init(const P& params) const {
    return std::apply([&](const auto&... part) { return std::tuple{part.init(params)...}; },
                      parts_);
  }
  /// {updates, next state}.
  template <class G, class S, class P>
  std::pair<G, S> update(const G& grads, const S& state, const P& params,
                         Loc loc = Loc::current()) const {
    const LocScope at(loc);
    std::pair<G, S> out{grads, state};
    [&]<size_t... I>(std::index_sequence<I...>) {
      (
          [&] {
            auto [updates, next] =
                std::get<I>(parts_).update(out.first, std::get<I>(state), params);
            out.first = std::move(updates);
            std::get<I>(out.second) = std::move(next);
          }(),
          ...);
    }
    (std::index_sequence_for<T...>{});
    return out;
  }

 private:
  std::tuple<T...> parts_;
};
/// chain(clip_by_global_norm(1), adam()): a transformation made of several.
template <class... T>
Chain<T...> chain(T... parts) {
  return Chain<T...>(std::move(parts)...);
}

}  // namespace spruce::optim
