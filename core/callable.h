// SPDX-License-Identifier: Apache-2.0
// Whether a function can be called with given arguments, and one sentence for the compiler to print
// where it cannot, in the place of what std::invoke says.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "spruce/core/cxx20.h"

namespace spruce::internal {

struct WithCall {
  void operator()();
};
// Its call operator has no single meaning where F has one too, be that a template.
template <class F>
struct WithTwoCalls : F, WithCall {};

/// True for functions and for objects with any call operator. (Of a final class the answer is yes:
/// it cannot be asked.)
template <class F>
constexpr bool is_function() {
  if constexpr (std::is_class_v<F> && !std::is_final_v<F>) return !requires {
      &WithTwoCalls<F>::operator();
    };
  else if constexpr (std::is_pointer_v<F>)
    return std::is_function_v<std::remove_pointer_t<F>>;
  else
    return std::is_class_v<F> || std::is_function_v<F> || std::is_member_pointer_v<F>;
}

template <class R, class... A>
std::integral_constant<std::size_t, sizeof...(A)> parameters(R (*)(A...));
template <class C, class R, class... A>
std::integral_constant<std::size_t, sizeof...(A)> parameters(R (C::*)(A...));
template <class C, class R, class... A>
std::integral_constant<std::size_t, sizeof...(A)> parameters(R (C::*)(A...) const);

/// False where F, which cannot be called with n arguments, has another number of parameters.
template <class F, std::size_t n>
constexpr bool has_parameters() {
  if constexpr (requires(F f) { parameters(f); })
    return decltype(parameters(std::declval<F>()))::value == n;
  else if constexpr (requires { parameters(&F::operator()); })
    return decltype(parameters(&F::operator()))::value == n;
  else
    return true;  // overloaded or a template
}

/// Why a function cannot be called with arguments of the types Args, each const.
enum class CallFault : unsigned char {
  kNone,        ///< it can
  kNoFunction,  ///< it is a value
  kMutable,     ///< its call operator is not const
  kReference,   ///< it takes an argument by reference that is not const
  kCount,       ///< it takes more or fewer arguments
  kTypes,       ///< it takes others
  kNothing      ///< it can, and returns nothing
};

template <class F, class... Args>
constexpr CallFault call_fault() {
  if constexpr (std::is_invocable_v<const F&, const Args&...>) {
    return std::is_void_v<std::invoke_result_t<const F&, const Args&...>> ? CallFault::kNothing
                                                                          : CallFault::kNone;
  } else if constexpr (!is_function<F>()) {
    return CallFault::kNoFunction;
  } else if constexpr (std::is_invocable_v<F&, const Args&...>) {
    return CallFault::kMutable;
  } else if constexpr (std::is_invocable_v<F&, Args&...> || std::is_invocable_v<F&, Args&&...>) {
    return CallFault::kReference;
  } else {
    return has_parameters<F, sizeof...(Args)>() ? CallFault::kTypes : CallFault::kCount;
  }
}

/// Whether f(args...) can be called, args being const, and returns something; where not, the
/// compiler prints why.
template <class F, class... Args>
constexpr bool check_call() {
  constexpr CallFault fault = call_fault<F, Args...>();
  static_assert(fault != CallFault::kNoFunction,
                "spruce: a function is expected here, such as a lambda, and this is a value; look "
                "at the order of the arguments");
  static_assert(fault != CallFault::kMutable,
                "spruce: the call operator of the function has to be const; leave out `mutable`, "
                "and return what changes");
  static_assert(fault != CallFault::kReference,
                "spruce: the function takes an argument as `T&` or `T&&`; write `const T&`, as in "
                "`const Array& x`, and return what changes");
  static_assert(fault != CallFault::kCount,
                "spruce: the function takes more or fewer arguments than it is called with here");
  static_assert(fault != CallFault::kTypes,
                "spruce: the function does not take arguments of the types that it is called with "
                "here");
  static_assert(fault != CallFault::kNothing,
                "spruce: the function returns nothing; functions here have no effects, and return "
                "their result: an Array or a tree of arrays");
  return fault == CallFault::kNone;
}

/// What f(args...) returns, without const and references.
template <class F, class... Args>
using CallResult = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;

/// False, as soon as there is a T to ask for: for a static_assert in a template that nobody should
/// call.
template <class... T>
inline constexpr bool kNever = false;

/// What begin() and end() of a T that is not iterated over return: enough for the compiler to read
/// the loop to its end.
template <class T>
struct NoIterator {
  T operator*() const;
  NoIterator& operator++();
  bool operator!=(const NoIterator& other) const;
};

/// In the place of a result that does not come about, since the compiler has refused the call: a
/// value of that type, so that no more errors follow.
template <class T>
T refused() {
  __builtin_unreachable();
}

}  // namespace spruce::internal
