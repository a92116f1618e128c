// SPDX-License-Identifier: Apache-2.0
// NamedArrays as a tree: each entry is a leaf whose path is its name.
#pragma once

#include "spruce/core/named_arrays.h"
#include "spruce/core/tree/tree.h"

namespace spruce {
namespace internal {
struct KeyVisitor;
}

template <>
struct TreeTraits<NamedArrays> {
  static constexpr bool kDefined = true;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    for (size_t i = 0; i < self.size(); ++i) visit(std::string_view(self.name(i)), self.value(i));
  }
};

namespace tree::internal {

// For jit, which traces again for arrays that are buffers. Trees do not differ in it otherwise.
template <>
void walk(const NamedArrays& x, spruce::internal::KeyVisitor& v);

}  // namespace tree::internal
}  // namespace spruce
