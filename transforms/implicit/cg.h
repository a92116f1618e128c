// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients.
#pragma once

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/transforms/control/loops/while_loop.h"
#include "spruce/transforms/implicit/linear_solve.h"

namespace spruce {

/// Options of cg.
struct CgOptions {
  double tol = 1e-5;       ///< done where |b - A x| <= max(tol |b|, atol)
  double atol = 0;         ///< the same, absolute
  int64_t max_steps = -1;  ///< at most so many steps; -1 for ten times the number of unknowns
};

namespace internal {

/// The inner product of two trees, f[].
Array inner(std::span<const Array> a, std::span<const Array> b);
std::vector<Array> flat_cg(const FlatBody& map, std::span<const Array> b,
                           const FlatBody& preconditioner, const CgOptions& options);

}  // namespace internal

/// The x with map(x) = b for a linear map that is symmetric and positive definite (Hestenes and
/// Stiefel 1952), from the start x = 0. `preconditioner` maps residuals to approximate solutions:
/// map's inverse, roughly, and also symmetric and positive definite. b and x are trees of floating
/// arrays. Differentiable in both modes with respect to b and to what the map closes over, as
/// custom_linear_solve; where it ends does not depend on tangents. Where the residual is infinite
/// or NaN (b or the map is, or |b| overflows) x is NaN. Throws ValueError for max_steps below -1.
template <class Map, class T, class M>
auto cg(const Map& map, const T& b, const CgOptions& options, const M& preconditioner,
        Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (internal::check_map_of<Map, T>() && internal::check_map_of<M, T>()) {
    std::vector<Array> leaves;
    internal::append_leaves(leaves, b);
    const internal::FlatBody m = internal::flat_map(preconditioner, b);
    const internal::FlatSolve solve = [&](const internal::FlatBody& f, std::span<const Array> y) {
      return internal::flat_cg(f, y, m, options);
    };
    return internal::with_leaves(
        b, std::span<const Array>(internal::flat_linear_solve(
               internal::flat_map(map, b), leaves, solve, nullptr, {.symmetric = true})));
  } else {
    return internal::refused<T>();
  }
}
template <class Map, class T>
auto cg(const Map& map, const T& b, const CgOptions& options = {}, Loc loc = Loc::current()) {
  return cg(
      map, b, options, [](const T& r) { return r; }, loc);
}

}  // namespace spruce
