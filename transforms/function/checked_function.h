// SPDX-License-Identifier: Apache-2.0
// What transforms ask of functions and arguments. Each check is false where they do not fit, and
// the compiler then prints one sentence; the transform gives refused<...>(), so that no errors
// follow.
#pragma once

#include "spruce/core/callable.h"
#include "spruce/core/tree/tree.h"

namespace spruce::internal {

/// The arguments are trees, and f can be run on them and returns a tree.
template <class F, class... Args>
constexpr bool check_run() {
  if constexpr ((tree::internal::check_tree<Args>() && ...)) {
    if constexpr (check_call<F, Args...>())
      return tree::internal::check_tree<CallResult<F, Args...>>();
  }
  return false;
}

/// Some of the arguments can have a derivative.
template <class... Args>
constexpr bool check_arrays() {
  constexpr bool ok = sizeof...(Args) == 0 || !(tree::internal::Static<Args> && ...);
  static_assert(ok,
                "spruce: a derivative is taken with respect to arrays; a C++ number or string is "
                "none: write Array(3.0f) for 3.0f");
  return ok;
}

template <size_t... I>
constexpr bool are_distinct() {
  constexpr size_t all[] = {I...};
  for (size_t i = 0; i < sizeof...(I); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (all[i] == all[k]) return false;
    }
  }
  return true;
}

/// The numbers I... name arguments that can have a derivative.
template <class... Args, size_t... I>
constexpr bool check_indices(std::index_sequence<I...>) {
  constexpr bool there = ((I < sizeof...(Args)) && ...);
  static_assert(there,
                "spruce: the numbers in <...>, without them 0, say which arguments the derivative "
                "is taken with respect to, counted from 0; there are not that many arguments");
  constexpr bool once = are_distinct<I...>();
  static_assert(once, "spruce: an argument is named twice in <...>; name each once");
  if constexpr (there && once)
    return (check_arrays<std::tuple_element_t<I, std::tuple<Args...>>>() && ...);
  else
    return false;
}

/// F is a function.
template <class F>
constexpr bool check_function() {
  constexpr bool ok = is_function<F>();
  static_assert(ok,
                "spruce: a transform takes a function, as in grad(f)(x); this is a value: leave "
                "out a call such as the one in grad(f(x))");
  return ok;
}

/// Of a transform that was given arguments beside the function.
template <class Result, class... Args>
auto refuse_arguments() {
  static_assert(kNever<Args...>,
                "spruce: the transform takes the function alone, and what it gives is called with "
                "the arguments: grad(f)(x), vmap(f)(x), jit(f)(x)");
  return refused<Result>();
}
/// An argument that is no option of a transform.
template <class A, class Option>
concept NoOption = !std::convertible_to<const A&, Option>;

/// The type that a refused call has: that of the first argument.
template <class... Args>
struct FirstOf {
  using Type = Array;
};
template <std::copy_constructible T, class... Args>
struct FirstOf<T, Args...> {
  using Type = T;
};

}  // namespace spruce::internal
