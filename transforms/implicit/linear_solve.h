// SPDX-License-Identifier: Apache-2.0
// custom_linear_solve: the solution of linear equations by any method, differentiated through what
// it is instead of through the steps that found it.
#pragma once

#include <functional>

#include "spruce/transforms/control/body.h"

namespace spruce {

/// Options of custom_linear_solve.
struct LinearSolveOptions {
  bool symmetric = false;  ///< the map is its own transpose, so that `solve` solves that too
};

namespace internal {

using FlatSolve = std::function<std::vector<Array>(const FlatBody& map, std::span<const Array> b)>;

/// `transpose_solve` may be empty.
std::vector<Array> flat_linear_solve(const FlatBody& map, const std::vector<Array>& b,
                                     const FlatSolve& solve, const FlatSolve& transpose_solve,
                                     const LinearSolveOptions& options);

// A function of trees like `like` as one of their leaves, and back.
template <class F, class T>
FlatBody flat_map(const F& f, const T& like) {
  return [&f, &like](std::span<const Array> leaves) {
    std::vector<Array> out;
    append_leaves(out, T(f(with_leaves(like, leaves))));
    return out;
  };
}
template <class T>
std::function<T(const T&)> tree_map_of(FlatBody f, const T& like) {
  return [f = std::move(f), like](const T& x) {
    std::vector<Array> in;
    append_leaves(in, x);
    return with_leaves(like, std::span<const Array>(f(in)));
  };
}
template <class Solve, class T>
FlatSolve flat_solve(const Solve& solve, const T& like) {
  return [&solve, &like](const FlatBody& map, std::span<const Array> b) {
    std::vector<Array> out;
    append_leaves(out, T(solve(tree_map_of(map, like), with_leaves(like, b))));
    return out;
  };
}

template <class Map, class T, class Solve>
T linear_solve(const Map& map, const T& b, const Solve& solve, const FlatSolve& transpose_solve,
               const LinearSolveOptions& options) {
  std::vector<Array> leaves;
  append_leaves(leaves, b);
  return with_leaves(
      b, std::span<const Array>(flat_linear_solve(flat_map(map, b), leaves, flat_solve(solve, b),
                                                  transpose_solve, options)));
}

}  // namespace internal

/// The x with map(x) = b, found by solve(map, b).
///
/// `map` is a linear function from trees like b to trees like b; it may close over arrays and
/// traced values, with respect to which x is differentiable: d x solves map(d x) = d b - d map(x).
/// How `solve` finds x does not matter for that. `solve` takes map as a std::function<T(const T&)>;
/// under transforms both are staged, so that loops in it are while_loop and the like. Reverse mode
/// needs {.symmetric = true} or the overload with transpose_solve; DerivativeError otherwise.
/// Throws ShapeError or DtypeError where map(x) or the solution has another type than b.
template <class Map, class T, class Solve>
T custom_linear_solve(const Map& map, const T& b, const Solve& solve,
                      const LinearSolveOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::linear_solve(map, b, solve, nullptr, options);
}
/// The same with transpose_solve(transposed map, b), which finds the solution for the transpose of
/// map, in reverse mode.
template <class Map, class T, class Solve, class TransposeSolve>
requires std::invocable < const TransposeSolve&, const std::function<T(const T&)>
&, const T& > T custom_linear_solve(const Map& map, const T& b, const Solve& solve,
                                    const TransposeSolve& transpose_solve,
                                    Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::linear_solve(map, b, solve, internal::flat_solve(transpose_solve, b), {});
}

}  // namespace spruce
