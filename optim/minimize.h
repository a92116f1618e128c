// SPDX-License-Identifier: Apache-2.0
// A function minimised to the end, by L-BFGS.
#pragma once

#include "spruce/optim/lbfgs.h"

namespace spruce {
namespace optim {

/// Options of minimize.
struct MinimizeOptions {
  int64_t max_steps = 200;       ///< of L-BFGS
  double tolerance = 1e-5;       ///< ends where no element of the gradient is larger
  int64_t memory_size = 10;      ///< how many steps are remembered
  ZoomOptions line_search = {};  ///< see ZoomOptions
};

/// What minimize found; a tree.
template <class T>
struct MinimizeResult {
  T params;         ///< where it ended
  Array value;      ///< f[]: the objective there
  Array gradient;   ///< f[]: the largest element of the gradient there, as an absolute value
  Array steps;      ///< i32[]: how many steps were made
  Array converged;  ///< bool[]: the gradient is within the tolerance
};

namespace internal {
struct MinimizeVector {
  Array x, value, gradient, steps, converged;
};
MinimizeVector minimize_vector(const ValueAndGrad& f, const Array& x,
                               const MinimizeOptions& options);
void check_minimize(const MinimizeOptions& options);
}  // namespace internal

}  // namespace optim

/// Minimises objective(params), f[], over the floating arrays of a tree, from `params` on, by
/// L-BFGS with a line search. It ends where the gradient is within the tolerance, after max_steps,
/// or where no step decreases the objective any more; `converged` says which. It works under jit
/// and vmap; in reverse mode it has no derivative (DerivativeError): custom_root has, for the root
/// of grad(objective). Throws ValueError for options out of range, and what value_and_grad throws
/// for the objective and for parameters without a floating array.
template <class F, class T>
optim::MinimizeResult<T> minimize(const F& objective, const T& params,
                                  const optim::MinimizeOptions& options = {},
                                  Loc loc = Loc::current()) {
  const OpScope at("minimize", loc);
  static_assert(std::is_invocable_r_v<Array, const F&, const T&>,
                "spruce: minimize(objective, params) takes a function of the parameters that "
                "returns one Array, and the parameters to begin with");
  optim::internal::check_minimize(options);
  if (optim::internal::trainable_leaves(params).empty())
    internal::throw_undifferentiable<0>("minimize", std::tuple<const T&>(params));
  const Dtype dtype = optim::internal::widest_dtype(params);
  optim::internal::MinimizeVector found =
      optim::internal::minimize_vector(optim::internal::of_vector(params, objective),
                                       optim::internal::flat_of(params, dtype), options);
  return {optim::internal::with_flat(params, found.x), found.value, found.gradient, found.steps,
          found.converged};
}

}  // namespace spruce
