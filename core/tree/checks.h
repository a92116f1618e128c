// SPDX-License-Identifier: Apache-2.0
// What the functions of tree.h ask of the functions that they are given. Each check is false where
// it does not fit, and the compiler then prints how it is called.
#pragma once

#include <string>
#include <type_traits>

#include "spruce/core/array.h"
#include "spruce/core/callable.h"

namespace spruce::tree::internal {

template <class F, class... Leaf>
constexpr bool check_map() {
  constexpr bool ok = std::is_invocable_r_v<Array, F&, const Leaf&...>;
  static_assert(ok,
                "spruce: tree::map(f, tree, ...) takes the function first, and f a `const Array&` "
                "from each tree; it returns an Array");
  return ok;
}
template <class F>
constexpr bool check_map_with_path() {
  constexpr bool ok = std::is_invocable_r_v<Array, F&, const std::string&, const Array&>;
  static_assert(ok,
                "spruce: tree::map_with_path(f, tree) takes the function first, and f a `const "
                "std::string&` and a `const Array&`; it returns an Array");
  return ok;
}
template <class F, class R>
constexpr bool check_reduce() {
  constexpr bool ok = [] {
    if constexpr (std::is_invocable_v<F&, R, const Array&>) {
      using Total = std::decay_t<std::invoke_result_t<F&, R, const Array&>>;
      return std::is_convertible_v<R, Total> &&
             std::is_invocable_r_v<Total, F&, Total, const Array&>;
    } else {
      return false;
    }
  }();
  static_assert(ok,
                "spruce: tree::reduce(f, init, tree) is init = f(init, leaf) for each leaf: f "
                "takes the type of init and a `const Array&`, and returns the type of init");
  return ok;
}
template <class P>
constexpr bool check_predicate() {
  constexpr bool ok = std::is_invocable_r_v<bool, P&, const std::string&, const Array&>;
  static_assert(ok,
                "spruce: tree::partition(predicate, tree) takes the predicate first, which takes "
                "a `const std::string&` (the path) and a `const Array&` and returns a bool");
  return ok;
}
template <class>
using ArrayFor = Array;

template <class Place>
constexpr bool check_place() {
  constexpr bool ok =
      std::is_lvalue_reference_v<Place> && !std::is_const_v<std::remove_reference_t<Place>>;
  static_assert(ok,
                "spruce: the function of tree::at returns a reference to a part of the tree: write "
                "`-> auto&`, as in `[](auto& m) -> auto& { return m.out.weight; }`");
  return ok;
}
template <class Place, class V>
constexpr bool check_part() {
  constexpr bool ok = std::is_assignable_v<Place, V>;
  static_assert(ok,
                "spruce: tree::at(...) puts a value of the type that stands in that place: an "
                "Array for an Array, a layer for a layer; set() takes it, the function of apply() "
                "returns it");
  return ok;
}

}  // namespace spruce::tree::internal
