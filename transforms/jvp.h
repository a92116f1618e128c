// SPDX-License-Identifier: Apache-2.0
// Forward mode.
#pragma once

#include "spruce/transforms/linearizer.h"

namespace spruce {
namespace internal {

// Turns the leaves of `primals` into values with the tangents of `tangents`.
template <class T>
void attach(const char* op, DualInterpreter& dual, T& primals, const T& tangents) {
  const std::vector<Array> ts = tree::leaves(tangents);
  if (tree::internal::count_leaves(primals) != ts.size())
    tree::internal::check_same(op, tree::structure(primals), tree::structure(tangents));
  size_t i = 0;
  tree::internal::for_each_leaf(primals, [&](Array& a, tree::Leaf kind) {
    const Array& t = ts[i];
    if (a.defined() && t.defined() && kind == tree::Leaf::kArray && is_floating(a.dtype())) {
      check_tangent(op, "tangent", i, a.aval(), t);
      a = dual.make(a, t);
    }
    ++i;
  });
}

Array zero_tangent(const Array& value);

// jvp under the name of a function that is made of it.
template <class F, class... P>
auto jvp_as(const char* op, const F& f, const std::tuple<P...>& primals,
            const std::tuple<P...>& tangents) {
  DualInterpreter dual(op);
  std::tuple<P...> traced = primals;
  attach(op, dual, traced, tangents);
  auto out = run_under(dual, [&] { return std::apply(f, std::as_const(traced)); });
  auto tangent = out;
  tree::internal::for_each_leaf(tangent, [&](Array& a, tree::Leaf) {
    if (!a.defined()) return;
    const Array t = dual.tangent(a);
    a = t.defined() ? t : zero_tangent(dual.primal(a));
  });
  tree::internal::for_each_leaf(out, [&](Array& a, tree::Leaf) {
    if (a.defined()) a = dual.primal(a);
  });
  return std::pair{std::move(out), std::move(tangent)};
}

}  // namespace internal

/// {f(primals...), the tangent of the result}: primals and tangents are tuples of arguments of the
/// same types. A leaf of the tangents that is an undefined Array counts as zero; so do those of
/// integer and boolean leaves, buffers and keys. Throws ShapeError or DtypeError where a tangent
/// does not have the type of its value.
template <class F, class... P, class... T>
auto jvp(const F& f, const std::tuple<P...>& primals, const std::tuple<T...>& tangents,
         Loc loc = Loc::current()) {
  static_assert(std::is_same_v<std::tuple<P...>, std::tuple<T...>>,
                "spruce: jvp takes tangents of the same types as the primals");
  const LocScope at(loc);
  return internal::jvp_as("jvp", f, primals, tangents);
}

}  // namespace spruce
