// SPDX-License-Identifier: Apache-2.0
// L-BFGS (Liu and Nocedal 1989): the inverse of the Hessian from the last steps and the changes of
// the gradient, and a line search.
#pragma once

#include "spruce/optim/transformation.h"
#include "spruce/optim/zoom.h"
#include "spruce/transforms/derive/grad.h"

namespace spruce::optim {

/// What L-BFGS remembers, parameters and gradients as one vector of n numbers each.
struct LbfgsState {
  Array count;    ///< i32[]
  Array params;   ///< f[n]: at the update before
  Array grads;    ///< f[n]
  Array steps;    ///< f[memory, n]: differences of parameters
  Array changes;  ///< f[memory, n]: of gradients
  Array weights;  ///< f[memory]: the inverses of their products
};

namespace internal {

LbfgsState lbfgs_start(int64_t n, Dtype dtype, int64_t memory);
// {the inverse Hessian times the gradient, the next state}.
std::pair<Array, LbfgsState> lbfgs_direction(const char* op, const Array& grads,
                                             const LbfgsState& state, const Array& params,
                                             bool scale);
void check_memory(const char* op, int64_t memory);
// step_size * direction; zeros for a step of 0, since the direction may not be finite then.
Array stretched(const Array& direction, const Array& step_size);

// The trainable leaves of a tree as one vector, in their widest dtype.
Array joined(const std::vector<Array>& leaves, Dtype dtype);
// The part of `flat` that belongs to `like`, which begins at `at`; moves `at` behind it.
Array part_of(const Array& flat, const Array& like, int64_t& at);
template <class T>
Array flat_of(const T& x, Dtype dtype) {
  return joined(trainable_leaves(x), dtype);
}
// `like` with its trainable leaves from a vector.
template <class T>
T with_flat(const T& like, const Array& flat) {
  int64_t at = 0;
  return map_trainable([&](const Array& a) { return part_of(flat, a, at); }, like);
}
// An objective of trees as one of vectors.
template <class T, class F>
ValueAndGrad of_vector(const T& like, const F& objective) {
  return [like, &objective](const Array& flat) {
    return value_and_grad([&](const Array& x) { return Array(objective(with_flat(like, x))); })(
        flat);
  };
}

}  // namespace internal

/// updates = the inverse Hessian, as far as it is known, times the gradients.
struct ScaleByLbfgs {
  int64_t memory_size = 10;        ///< how many steps are remembered
  bool scale_init_precond = true;  ///< begin with the identity times the last curvature

  /// Zeros, in the widest dtype of the parameters.
  template <class T>
  LbfgsState init(const T& params) const {
    internal::check_memory("scale_by_lbfgs", memory_size);
    const Dtype dtype = internal::widest_dtype(params);
    return internal::lbfgs_start(internal::flat_of(params, dtype).size(), dtype, memory_size);
  }
  /// {updates, next state}. Throws ShapeError where the state is of other parameters.
  template <class G, class P>
  std::pair<G, LbfgsState> update(const G& grads, const LbfgsState& state, const P& params,
                                  Loc loc = Loc::current()) const {
    const OpScope at("scale_by_lbfgs", loc);
    const Dtype dtype = state.params.dtype();
    auto [direction, next] =
        internal::lbfgs_direction("scale_by_lbfgs", internal::flat_of(grads, dtype), state,
                                  internal::flat_of(params, dtype), scale_init_precond);
    return {internal::with_flat(grads, direction), std::move(next)};
  }
};
/// The direction of L-BFGS as a part of chain(). Throws ValueError for a memory_size below 1.
ScaleByLbfgs scale_by_lbfgs(ScaleByLbfgs options = {}, Loc loc = Loc::current());

/// Options of lbfgs and minimize.
struct LbfgsOptions {
  int64_t memory_size = 10;        ///< how many steps are remembered
  bool scale_init_precond = true;  ///< begin with the identity times the last curvature
  ZoomOptions line_search = {};    ///< see ZoomOptions
};

/// L-BFGS with a line search along each of its directions.
class Lbfgs {
 public:
  /// Throws ValueError for options out of range.
  explicit Lbfgs(LbfgsOptions options = {}, Loc loc = Loc::current()) : o_(options) {
    const LocScope at(loc);
    internal::check_memory("lbfgs", o_.memory_size);
    o_.line_search.check("lbfgs");
  }

  /// Zeros, in the widest dtype of the parameters.
  template <class T>
  LbfgsState init(const T& params) const {
    return ScaleByLbfgs{o_.memory_size, o_.scale_init_precond}.init(params);
  }
  /// {updates, next state}; `objective(params)` is the loss, f[], on the data that the gradients
  /// are of. It is evaluated, with its gradient, at up to line_search.max_steps places. Throws
  /// ShapeError where the state is of other parameters.
  template <class G, class P, class F>
  requires std::is_invocable_r_v<Array, const F&, const P&> std::pair<G, LbfgsState> update(
      const G& grads, const LbfgsState& state, const P& params, const F& objective,
      Loc loc = Loc::current())
  const {
    const OpScope at("lbfgs", loc);
    const Dtype dtype = state.params.dtype();
    const Array flat = internal::flat_of(grads, dtype), x = internal::flat_of(params, dtype);
    auto [direction, next] =
        internal::lbfgs_direction("lbfgs", flat, state, x, o_.scale_init_precond);
    const Array value = astype(Array(objective(params)), dtype);
    const internal::ZoomResult found = internal::zoom(internal::of_vector(params, objective), x,
                                                      -direction, value, flat, o_.line_search);
    return {internal::with_flat(grads, -internal::stretched(direction, found.step_size)),
            std::move(next)};
  }
  /// Does not compile: the objective is missing.
  template <class G, class P>
  std::pair<G, LbfgsState> update(const G& grads, const LbfgsState& state, const P&) const {
    static_assert(spruce::internal::kNever<G>,
                  "spruce: lbfgs needs the objective: update(grads, state, params, objective)");
    return {grads, state};
  }

 private:
  LbfgsOptions o_;
};
/// L-BFGS with a zoom line search: lbfgs().update(grads, state, params, objective). Throws
/// ValueError for options out of range.
Lbfgs lbfgs(LbfgsOptions options = {}, Loc loc = Loc::current());

}  // namespace spruce::optim
