// SPDX-License-Identifier: Apache-2.0
// switch_: one of several functions, chosen by an index.
#pragma once

#include <functional>
#include <optional>

#include "spruce/transforms/control/body/body.h"

namespace spruce {
namespace internal {

/// i32[] of an index. Throws ShapeError or DtypeError.
Array branch_index(const Array& index);
/// Throws TreeError unless the results of the first and of another branch have one form;
/// `difference` says how they differ.
void check_branch_form(const char* op, size_t branch, const std::string& difference);
/// Stages the branches on `args` and runs the one that is chosen. `paths`, those of the leaves of
/// the result, are known once the first branch has been staged.
std::vector<Array> flat_switch(const char* op, const Array& index, std::vector<Array> args,
                               const std::vector<FlatBody>& branches,
                               const std::vector<std::string>& paths);

template <class Out, class... Args>
using Branches = std::vector<std::function<Out(const Args&...)>>;

template <class Out, class... Args>
Out switch_over(const char* op, const Array& index, const Branches<Out, Args...>& branches,
                const Args&... args) {
  std::vector<Array> leaves;
  (append_leaves(leaves, args), ...);
  std::optional<Out> form;
  std::vector<std::string> paths;
  std::vector<FlatBody> bodies;
  for (size_t b = 0; b < branches.size(); ++b) {
    bodies.push_back([&, b](std::span<const Array> in) {
      [[maybe_unused]] const auto take = [&](const auto& like) {
        std::vector<Array> own;
        append_leaves(own, like);
        const auto filled = with_leaves(like, in.first(own.size()));
        in = in.subspan(own.size());
        return filled;
      };
      // Braces, because what stands in them is evaluated in order.
      const std::tuple<Args...> full{take(args)...};
      const Out out =
          std::apply([&](const Args&... own) { return call_body(op, branches[b], own...); }, full);
      if (form.has_value())
        check_branch_form(op, b,
                          form_difference(tree::structure(*form), tree::entries(*form),
                                          tree::structure(out), tree::entries(out)));
      else
        paths = leaf_paths("result", tree::entries(out));
      form.emplace(out);
      std::vector<Array> results;
      append_leaves(results, out);
      return results;
    });
  }
  const std::vector<Array> out = flat_switch(op, index, std::move(leaves), bodies, paths);
  return with_leaves(*form, std::span<const Array>(out));
}

template <class F, class... Args>
using BranchResult = BodyTree<std::invoke_result_t<const F&, const Args&...>>;

// The functions can all be run, and return values of one type.
template <class... Args, class F, class... G>
constexpr bool check_all_branches(std::type_identity<std::tuple<F, G...>>) {
  if constexpr (check_run<F, Args...>()) {
    if constexpr ((check_run<G, Args...>() && ...)) {
      constexpr bool ok =
          (std::is_same_v<BranchResult<F, Args...>, BranchResult<G, Args...>> && ...);
      static_assert(ok,
                    "spruce: the functions of cond or switch_ return values of different types");
      return ok;
    }
  }
  return false;
}
template <class Functions, class... Args>
constexpr bool check_branches() {
  return check_all_branches<Args...>(std::type_identity<Functions>());
}

}  // namespace internal

/// branches[index](args...), the branches being a std::tuple of functions; an index out of range
/// means the first or the last. The index is one integer. Otherwise as cond. Throws DtypeError for
/// an index that is no integer.
template <class F, class... G, class... Args>
auto switch_(Operand index, const std::tuple<F, G...>& branches, const Args&... args) {
  const LocScope at(index.loc);
  if constexpr (internal::check_branches<std::tuple<F, G...>, Args...>()) {
    using Out = internal::BranchResult<F, Args...>;
    internal::Branches<Out, Args...> erased;
    std::apply(
        [&](const auto&... f) {
          (erased.push_back([&f](const Args&... a) { return Out(f(a...)); }), ...);
        },
        branches);
    return internal::switch_over<Out, Args...>("switch_", internal::branch_index(index.array),
                                               erased, args...);
  } else {
    return internal::refused<Array>();
  }
}

/// The same for functions of one type.
template <class F, class... Args>
auto switch_(Operand index, const std::vector<F>& branches, const Args&... args) {
  const LocScope at(index.loc);
  if constexpr (internal::check_branches<std::tuple<F>, Args...>()) {
    using Out = internal::BranchResult<F, Args...>;
    internal::Branches<Out, Args...> erased;
    for (const F& f : branches) erased.push_back([&f](const Args&... a) { return Out(f(a...)); });
    return internal::switch_over<Out, Args...>("switch_", internal::branch_index(index.array),
                                               erased, args...);
  } else {
    return internal::refused<Array>();
  }
}
/// Refused; the compiler says how to write it: with the functions in a std::tuple.
template <class F, class... Args>
requires(internal::is_function<F>()) auto switch_(Operand, const F&, const Args&...) {
  static_assert(internal::kNever<F>,
                "spruce: the functions of switch_ stand in one std::tuple: switch_(index, "
                "std::tuple{f, g}, x)");
  return internal::refused<Array>();
}

}  // namespace spruce
