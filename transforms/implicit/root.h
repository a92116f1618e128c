// SPDX-License-Identifier: Apache-2.0
// custom_root: the root of a function by any method, differentiated by the implicit function
// theorem.
#pragma once

#include "spruce/transforms/implicit/linear_solve.h"

namespace spruce {
namespace internal {

std::vector<Array> flat_root(const FlatBody& f, const std::vector<Array>& guess,
                             const FlatSolve& solve, const FlatSolve& tangent_solve);

}  // namespace internal

/// The x with f(x) = 0 (of x's form), found by solve(f, guess).
///
/// f may close over arrays and traced values; x is differentiable with respect to them: with J the
/// Jacobian of f at x, J d x = -d f(x). tangent_solve(J, y) finds the solution of that: J is a
/// linear function given as std::function<T(const T&)>, as f is for `solve`. For one unknown it is
/// [](const auto& J, const Array& y) { return y / J(sp::ones({})); }, for many cg, or solve with a
/// Jacobian. The guess has no derivative. `solve` may loop in C++ on values where those are known
/// (eagerly and under grad); traced values reach it and tangent_solve only through their arguments.
/// All orders and modes of derivative follow. Throws ShapeError, DtypeError or TreeError where f(x)
/// has not the form of x.
template <class F, class T, class Solve, class TangentSolve>
auto custom_root(const F& f, const T& guess, const Solve& solve, const TangentSolve& tangent_solve,
                 Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (!internal::check_map_of<F, T>()) {
    return internal::refused<T>();
  } else if constexpr (internal::check_solve<Solve, T>() &&
                       internal::check_solve<TangentSolve, T>()) {
    const internal::FlatSolve flat = [solve, guess](const internal::FlatBody& map,
                                                    std::span<const Array> b) {
      return internal::flat_solve(solve, guess)(map, b);
    };
    const internal::FlatSolve tangent = [tangent_solve, guess](const internal::FlatBody& map,
                                                               std::span<const Array> b) {
      return internal::flat_solve(tangent_solve, guess)(map, b);
    };
    std::vector<Array> leaves;
    internal::append_leaves(leaves, guess);
    return internal::with_leaves(guess, std::span<const Array>(internal::flat_root(
                                            internal::flat_map(f, guess), leaves, flat, tangent)));
  } else {
    return internal::refused<T>();
  }
}

}  // namespace spruce
