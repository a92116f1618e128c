// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/function/empty_leaves.h"

#include <algorithm>

#include "spruce/transforms/function/function_form.h"

namespace spruce::internal {

void throw_null_function(const char* op) {
  throw ValueError(std::string(op) +
                   ": the function is a null pointer or an empty std::function; give it one first");
}

void throw_with_leaves(const EmptyArrayError& e, const std::string& op, const EmptyLeaves& empty) {
  constexpr size_t kMost = 4;  // leaves that a message names
  if (e.names_leaves() || empty.paths.empty()) return;
  std::string text;
  for (size_t i = 0; i < std::min(empty.paths.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + argument_name(empty.paths[i]);
  if (empty.paths.size() > kMost)
    text += " and " + std::to_string(empty.paths.size() - kMost) + " others";
  throw EmptyArrayError(e, op, text);
}

}  // namespace spruce::internal
