// SPDX-License-Identifier: Apache-2.0
// Forward mode.
#pragma once

#include "spruce/transforms/derive/has_aux.h"
#include "spruce/transforms/derive/linearizer.h"
#include "spruce/transforms/function/checked_function.h"
#include "spruce/transforms/function/empty_leaves.h"

namespace spruce {
namespace internal {

struct AttachTangent {
  const char* op;
  DualInterpreter& dual;
  const std::vector<Array>& tangents;
  size_t i = 0;
  void operator()(Array& a, tree::Leaf kind) {
    const Array& t = tangents[i];
    if (a.defined() && t.defined() && kind == tree::Leaf::kArray && is_floating(a.dtype())) {
      a = dual.make(a, as_tangent(op, "tangent", i, a.aval(), t));
    }
    ++i;
  }
};

// Turns the leaves of `primals` into values with the tangents of `tangents`.
template <class T>
void attach(const char* op, DualInterpreter& dual, T& primals, const T& tangents) {
  const std::vector<Array> ts = tree::leaves(tangents);
  if (tree::internal::count_leaves(primals) != ts.size())
    tree::internal::check_same(op, tree::structure(primals), tree::structure(tangents));
  tree::internal::for_each_leaf(primals, AttachTangent{op, dual, ts});
}

Array zero_tangent(const Array& value);

struct TakeTangent {
  const DualInterpreter& dual;
  void operator()(Array& a, tree::Leaf) const {
    if (!a.defined()) return;
    const Array t = dual.tangent(a);
    a = t.defined() ? t : zero_tangent(dual.primal(a));
  }
};

// jvp under the name of a function that is made of it.
template <class F, class... P>
auto jvp_as(const char* op, const F& f, const std::tuple<P...>& primals,
            const std::tuple<P...>& tangents) {
  DualInterpreter dual(op);
  std::tuple<P...> traced = primals;
  attach(op, dual, traced, tangents);
  auto out = apply_under(dual, op, f, traced);
  auto tangent = out;
  tree::internal::for_each_leaf(tangent, TakeTangent{dual});
  tree::internal::for_each_leaf(out, TakePrimal{dual});
  return std::pair{std::move(out), std::move(tangent)};
}

/// Primals and tangents are tuples of the same types.
template <class Primals, class Tangents>
constexpr bool check_primals() {
  constexpr bool tuples = tree::internal::IsTuple<Primals>::value &&
                          tree::internal::IsTuple<Tangents>::value &&
                          !std::is_same_v<Primals, std::tuple<>>;
  static_assert(tuples,
                "spruce: jvp takes the arguments and their tangents as two tuples: jvp(f, "
                "std::tuple{x, y}, std::tuple{dx, dy})");
  constexpr bool same = std::is_same_v<Primals, Tangents>;
  static_assert(!tuples || same, "spruce: jvp takes tangents of the same types as the primals");
  return tuples && same;
}

/// f takes all of P... as one tuple, and not each as an argument.
template <class F, class... P>
concept TakesTuple = !std::is_invocable_v<const F&, const P&...> &&
                     std::is_invocable_v<const F&, const std::tuple<P...>&>;

}  // namespace internal

/// {f(primals...), the tangent of the result}: primals and tangents are tuples of arguments of the
/// same types. (std::tuple{q} of a tuple q is q itself; that also works where f takes q as its only
/// argument.) A leaf of the tangents that is an undefined Array counts as zero; so do those of
/// integer and boolean leaves, buffers and keys. Throws ShapeError or DtypeError where a tangent
/// does not have the type of its value.
template <class F, class... P, class... T>
auto jvp(const F& f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents,
         Loc loc = Loc::current()) {
  const LocScope at(loc);
  if constexpr (!internal::check_primals<std::tuple<P...>, std::tuple<T...>>()) {
    return internal::refused<std::pair<Array, Array>>();
  } else if constexpr (internal::TakesTuple<F, P...>) {
    using One = std::tuple<std::tuple<P...>>;
    return internal::jvp_as("jvp", f, One(primals), One(tangents));
  } else if constexpr (!internal::check_arrays<P...>()) {
    return internal::refused<std::pair<Array, Array>>();
  } else if constexpr (internal::check_run<F, P...>()) {
    return internal::jvp_as("jvp", f, primals, tangents);
  } else {
    return internal::refused<std::pair<Array, Array>>();
  }
}
/// Refused; the compiler says how to write it: with two tuples.
template <class F, class P, class T>
auto jvp(const F&, const P&, const T&) {
  if constexpr (!internal::check_primals<P, T>())
    return internal::refused<std::pair<Array, Array>>();
}
template <class F, class T>
auto jvp(const F&, std::initializer_list<T>, std::initializer_list<T>) {
  if constexpr (!internal::check_primals<T, T*>())
    return internal::refused<std::pair<Array, Array>>();
}
/// {out, the tangent of out, aux} of a function that returns {out, aux}.
template <class F, class... P, class... T>
auto jvp(const F& f, HasAux, const std::tuple<P...>& primals, const std::tuple<T...>& tangents,
         Loc loc = Loc::current()) {
  const LocScope at(loc);
  using Refused = std::tuple<Array, Array, Array>;
  if constexpr (!internal::check_primals<std::tuple<P...>, std::tuple<T...>>()) {
    return internal::refused<Refused>();
  } else if constexpr (internal::TakesTuple<F, P...>) {
    using One = std::tuple<std::tuple<P...>>;
    return jvp(f, has_aux, One(primals), One(tangents), loc);
  } else if constexpr (!internal::check_arrays<P...>()) {
    return internal::refused<Refused>();
  } else if constexpr (internal::check_run_with_aux<F, P...>()) {
    auto [both, tangent] =
        internal::jvp_as("jvp", internal::SplitAux<std::decay_t<F>>(f), primals, tangents);
    return std::tuple{std::move(both.first), std::move(tangent.first), std::move(both.second)};
  } else {
    return internal::refused<Refused>();
  }
}
/// Refused; the compiler says how to write it: with two tuples.
template <class F, class P, class T>
auto jvp(const F&, HasAux, const P&, const T&) {
  if constexpr (!internal::check_primals<P, T>())
    return internal::refused<std::tuple<Array, Array, Array>>();
}

}  // namespace spruce
