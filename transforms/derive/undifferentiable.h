// SPDX-License-Identifier: Apache-2.0
// Why arguments have nothing that a derivative could be taken of: for the messages of grad, vjp and
// the like.
#pragma once

#include <string>
#include <vector>

#include "spruce/core/tree/tree.h"

namespace spruce::internal {

/// What stands in trees, by path: their leaves, numbers, and containers without elements.
class TreeContents final : public tree::internal::PathObserver {
 public:
  std::vector<tree::Entry> leaves;
  std::vector<std::string> numbers, empty;

  void leaf(const Array& a, tree::Leaf kind) override { leaves.push_back({path(), a, kind}); }
  void static_value(const tree::internal::StaticValue& value) override {
    if (value.is_number()) numbers.push_back(path());
  }
  void size(size_t n) override {
    if (n == 0) empty.push_back(path());
  }
};

[[noreturn]] void throw_undifferentiable(const char* op, const TreeContents& contents);

/// Throws DerivativeError that says what the arguments I... are, none of which has a floating leaf.
template <size_t... I, class Args>
[[noreturn]] void throw_undifferentiable(const char* op, const Args& args) {
  TreeContents contents;
  ((contents.enter(I), tree::internal::walk(std::get<I>(args), contents.any()), contents.leave()),
   ...);
  throw_undifferentiable(op, contents);
}

}  // namespace spruce::internal
