// SPDX-License-Identifier: Apache-2.0
// Where a function that runs under a transform meets an empty Array: the message names the leaves
// of its arguments that are empty.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "spruce/core/empty_array_error.h"
#include "spruce/core/tree/tree.h"
#include "spruce/transforms/function/run_under.h"

namespace spruce::internal {

/// The paths of the leaves that are undefined.
class EmptyLeaves final : public tree::internal::PathObserver {
 public:
  std::vector<std::string> paths;
  void leaf(const Array& a, tree::Leaf) override {
    if (!a.defined()) paths.push_back(path());
  }
};

/// Throws `e` with the leaves of the arguments of `op` that are empty; returns where there are
/// none, or where `e` names those of a transform within.
void throw_with_leaves(const EmptyArrayError& e, const std::string& op, const EmptyLeaves& empty);
template <class... Args>
void throw_with_leaves(const EmptyArrayError& e, const std::string& op,
                       const std::tuple<Args...>& args) {
  EmptyLeaves empty;
  tree::internal::walk(args, empty.any());
  throw_with_leaves(e, op, empty);
}

/// Throws ValueError for a function pointer that is null, or an empty std::function.
[[noreturn]] void throw_null_function(const char* op);
template <class F>
void check_callable(const char* op, const F& f) {
  if constexpr (requires { f == nullptr; }) {
    if (f == nullptr) throw_null_function(op);
  }
}

/// f(args...) under `i`.
template <class F, class... Args>
auto apply_under(Interpreter& i, const char* op, const F& f, const std::tuple<Args...>& args) {
  check_callable(op, f);
  try {
    return run_under(i, [&] { return std::apply(f, args); });
  } catch (const EmptyArrayError& e) {
    throw_with_leaves(e, op, args);
    throw;
  }
}

/// f(args...) as the function that a loop, a branch or checkpoint, `op`, was given.
template <class F, class... Args>
auto call_body(const char* op, const F& f, const Args&... args) {
  check_callable(op, f);
  try {
    return f(args...);
  } catch (const EmptyArrayError& e) {
    throw_with_leaves(e, std::string("the function of ") + op, std::tie(args...));
    throw;
  }
}

}  // namespace spruce::internal
