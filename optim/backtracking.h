// SPDX-License-Identifier: Apache-2.0
// A line search that shortens the step until the objective has decreased enough (Armijo 1966).
#pragma once

#include <functional>
#include <limits>

#include "spruce/optim/transformation.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::optim {

/// State of scale_by_backtracking_linesearch.
struct BacktrackingState {
  Array learning_rate;         ///< f[]: the last factor, 1 at first
  Array value;                 ///< f[]: the objective behind the last update, infinity at first
  Array num_linesearch_steps;  ///< i32[]: evaluations in the last update
  Array decrease_error;        ///< f[]: by how much the last factor misses the condition, or 0
};

/// Options of scale_by_backtracking_linesearch, as in Optax.
struct BacktrackingOptions {
  int64_t max_backtracking_steps = 15;  ///< how often the step is shortened
  double slope_rtol = 1e-4;             ///< share of the slope by which the objective has to fall
  double decrease_factor = 0.8;         ///< of the step at each turn, within 0..1
  double increase_factor = 1.5;         ///< of the last step, where the search begins; at least 1
  double max_learning_rate = 1;         ///< the longest step; infinity: no limit
  double atol = 0;                      ///< by how much the condition may be missed
  double rtol = 0;                      ///< the same as a share of the objective

  /// Throws ValueError, naming the operation, for numbers out of range.
  void check(const char* op) const;
};

namespace internal {

// The objective along the direction, by the length of the step: f[] -> f[].
using AlongDirection = std::function<Array(const Array& step)>;
BacktrackingState backtracking_start(Dtype dtype);
BacktrackingState backtrack(const AlongDirection& objective, const Array& value, const Array& slope,
                            const BacktrackingState& state, const BacktrackingOptions& options);

}  // namespace internal

/// updates * the longest step of a falling series for which the objective is at most (1 + rtol)
/// value + slope_rtol * step * slope.
class ScaleByBacktracking {
 public:
  /// Throws ValueError for options out of range.
  explicit ScaleByBacktracking(BacktrackingOptions options, Loc loc = Loc::current())
      : o_(options) {
    const LocScope at(loc);
    o_.check("scale_by_backtracking_linesearch");
  }

  /// A step of 1, in the widest dtype of the parameters.
  template <class T>
  BacktrackingState init(const T& params) const {
    return internal::backtracking_start(internal::widest_dtype(params));
  }
  /// {updates, next state}; `objective(params)` is the loss, f[], of which value and gradient are
  /// computed at `params` and values alone along the updates. Throws TreeError where trees differ
  /// in form, ShapeError where arrays do in shape.
  template <class G, class P, class F>
  requires std::is_invocable_r_v<Array, const F&, const P&> std::pair<G, BacktrackingState> update(
      const G& updates, const BacktrackingState& state, const P& params, const F& objective,
      Loc loc = Loc::current())
  const {
    const OpScope at("scale_by_backtracking_linesearch", loc);
    const auto [value, grads] = value_and_grad(objective)(params);
    Array slope = 0.0f;
    map_trainable(
        [&](const Array& u, const Array& g) {
          slope = slope + sum(astype(u * g, state.value.dtype()));
          return u;
        },
        updates, grads);
    const auto along = [&](const Array& step) {
      const Hyperparam by(step);
      return Array(objective(map_trainable(
          [&](const Array& p, const Array& u) { return astype(p + by * u, p.dtype()); }, params,
          updates)));
    };
    BacktrackingState next = internal::backtrack(along, value, slope, state, o_);
    const Hyperparam by(next.learning_rate);
    return {map_trainable([&](const Array& u) { return by * u; }, updates), std::move(next)};
  }
  /// Does not compile: the objective is missing.
  template <class G, class P>
  std::pair<G, BacktrackingState> update(const G& updates, const BacktrackingState& state,
                                         const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: scale_by_backtracking_linesearch needs the objective: update(grads, "
                  "state, params, objective)");
    return {updates, state};
  }

 private:
  BacktrackingOptions o_;
};
/// The last part of a chain, behind a direction down the gradient: chain(sgd({.learning_rate = 1}),
/// scale_by_backtracking_linesearch()).update(grads, state, params, objective). The step is 0 where
/// no finite value was found. In reverse mode it has no derivative. Throws ValueError for options
/// out of range.
ScaleByBacktracking scale_by_backtracking_linesearch(BacktrackingOptions options = {},
                                                     Loc loc = Loc::current());

}  // namespace spruce::optim
