// SPDX-License-Identifier: Apache-2.0
// Why arguments have nothing that a derivative could be taken of: for the messages of grad, vjp and
// the like.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/tree/tree.h"

namespace spruce::internal {

/// What stands in trees, by path: their leaves, numbers, and containers without elements.
struct TreeContents : tree::internal::PathKeeper {
  std::vector<tree::Entry> leaves;
  std::vector<std::string> numbers, empty;

  template <class A>
  void leaf(A& a, tree::Leaf kind) {
    leaves.push_back({path, a, kind});
  }
  template <class S>
  void fixed(const S&) {
    if constexpr (std::is_arithmetic_v<S>) numbers.push_back(path);
  }
  void size(size_t n) {
    if (n == 0) empty.push_back(path);
  }
};

[[noreturn]] void throw_undifferentiable(const char* op, const TreeContents& contents);

/// Throws DerivativeError that says what the arguments I... are, none of which has a floating leaf.
template <size_t... I, class Args>
[[noreturn]] void throw_undifferentiable(const char* op, const Args& args) {
  TreeContents contents;
  ((contents.enter(I), tree::internal::walk(std::get<I>(args), contents), contents.leave()), ...);
  throw_undifferentiable(op, contents);
}

}  // namespace spruce::internal
