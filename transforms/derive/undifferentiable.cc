// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/undifferentiable.h"

#include <algorithm>

#include "spruce/core/empty_array_error.h"
#include "spruce/transforms/function/function_form.h"

namespace spruce::internal {
namespace {

constexpr size_t kMost = 4;  // leaves that a message names

// "argument 0 at weight is i32[3]"
std::string described(const tree::Entry& e) {
  std::string type = "an undefined Array";
  if (e.value.defined()) {
    type = to_string(e.value.aval());
    if (e.kind == tree::Leaf::kBuffer) type = "a Buffer of " + type;
    if (e.kind == tree::Leaf::kKey) type = "a Key";
  }
  return argument_name(e.path) + " is " + type;
}

std::string without_leaves(const TreeContents& c) {
  if (!c.empty.empty())
    return argument_name(c.empty[0]) + " is empty: there is no array to take the derivative of";
  if (!c.numbers.empty()) {
    return argument_name(c.numbers[0]) +
           " is a C++ number, which has no derivative; hand over an Array, as sp::array(3.0f)";
  }
  return "the argument holds no array to take the derivative of";
}

}  // namespace

void throw_undifferentiable(const char* op, const TreeContents& c) {
  const std::string head = std::string(op) + ": ";
  if (c.leaves.empty()) throw DerivativeError(head + without_leaves(c));
  const auto undefined = static_cast<size_t>(std::count_if(
      c.leaves.begin(), c.leaves.end(), [](const tree::Entry& e) { return !e.value.defined(); }));
  if (undefined == c.leaves.size() && undefined > 1) {
    throw DerivativeError(head + "all " + std::to_string(undefined) +
                          " arrays are undefined, the first is " + argument_name(c.leaves[0].path) +
                          ": " + kMovedFrom);
  }
  std::string text;
  for (size_t i = 0; i < std::min(c.leaves.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + described(c.leaves[i]);
  if (c.leaves.size() > kMost)
    text += " and " + std::to_string(c.leaves.size() - kMost) + " others are no better";
  if (undefined == c.leaves.size())
    throw DerivativeError(head + text +
                          " (default-constructed, or moved from); give it a value before");
  throw DerivativeError(head + text +
                        "; derivatives are taken with respect to Arrays of f16, bf16, f32 and f64: "
                        "convert with astype, or choose another argument, as in grad<1>(f)");
}

}  // namespace spruce::internal
