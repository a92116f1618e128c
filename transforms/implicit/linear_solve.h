// SPDX-License-Identifier: Apache-2.0
// custom_linear_solve: the solution of linear equations by any method, differentiated through what
// it is instead of through the steps that found it.
#pragma once

#include <functional>

#include "spruce/transforms/control/body/body.h"

namespace spruce {

/// Options of custom_linear_solve.
struct LinearSolveOptions {
  bool symmetric = false;  ///< the map is its own transpose, so that `solve` solves that too
};

namespace internal {

/// Types without weakness.
std::vector<Aval> types_of(std::span<const Array> leaves);
/// Throws TreeError, ShapeError or DtypeError unless `got` are the types `wanted`: "custom_root:
/// the guess is f32[2], what solve returned is f32[3]; " and the rule.
void check_types(const char* wanted_name, const char* got_name, const std::vector<Aval>& got,
                 const std::vector<Aval>& wanted, const char* rule);

using FlatSolve = std::function<std::vector<Array>(const FlatBody& map, std::span<const Array> b)>;

/// `transpose_solve` may be empty.
std::vector<Array> flat_linear_solve(const FlatBody& map, const std::vector<Array>& b,
                                     const FlatSolve& solve, const FlatSolve& transpose_solve,
                                     const LinearSolveOptions& options);

/// The functions of custom_root, custom_linear_solve and cg can be called as they are.
template <class F, class T>
constexpr bool check_map_of() {
  constexpr bool ok = std::is_invocable_r_v<T, const F&, const T&>;
  static_assert(ok,
                "spruce: the first argument of custom_root, custom_linear_solve and cg is a "
                "function that takes a tree of the type of the unknown, as `const Array&`, and "
                "returns one: of a matrix A write [&](const Array& x) { return matmul(A, x); }");
  return ok;
}
template <class Solve, class T>
constexpr bool check_solve() {
  constexpr bool ok =
      std::is_invocable_r_v<T, const Solve&, const std::function<T(const T&)>&, const T&>;
  static_assert(ok,
                "spruce: a solver is called as solve(f, b) with a function and a tree, and returns "
                "the solution: [](const auto& f, const Array& b) { ... }");
  return ok;
}

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
auto linear_solve(const Map& map, const T& b, const Solve& solve, const FlatSolve& transpose_solve,
                  const LinearSolveOptions& options) {
  if constexpr (!check_map_of<Map, T>()) {
    return refused<T>();
  } else if constexpr (check_solve<Solve, T>()) {
    std::vector<Array> leaves;
    append_leaves(leaves, b);
    return with_leaves(
        b, std::span<const Array>(flat_linear_solve(flat_map(map, b), leaves, flat_solve(solve, b),
                                                    transpose_solve, options)));
  } else {
    return refused<T>();
  }
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
auto custom_linear_solve(const Map& map, const T& b, const Solve& solve,
                         const LinearSolveOptions& options = {}, Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::linear_solve(map, b, solve, nullptr, options);
}
/// The same with transpose_solve(transposed map, b), which finds the solution for the transpose of
/// map, in reverse mode.
template <class Map, class T, class Solve, class TransposeSolve>
requires std::invocable < const TransposeSolve&, const std::function<T(const T&)>
&, const T& > auto custom_linear_solve(const Map& map, const T& b, const Solve& solve,
                                       const TransposeSolve& transpose_solve,
                                       Loc loc = Loc::current()) {
  const LocScope at(loc);
  return internal::linear_solve(map, b, solve, internal::flat_solve(transpose_solve, b), {});
}

}  // namespace spruce
