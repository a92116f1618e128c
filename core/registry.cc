// SPDX-License-Identifier: Apache-2.0
// The table of all primitives: the build lists the files of the folders primitives/ of all parts.
// They are parts of one library, so that a name is all that is known of them here.
#include <algorithm>

#include "spruce/core/primitive.h"
#include "spruce/core/public_name.h"

namespace spruce {

#define SPRUCE_PRIMITIVE(name) extern const Primitive name##_p;
#include "spruce/core/primitive_list.inc"
#undef SPRUCE_PRIMITIVE

namespace {

#define SPRUCE_PRIMITIVE(name) &name##_p,
constexpr const Primitive* kAll[] = {
#include "spruce/core/primitive_list.inc"
};
#undef SPRUCE_PRIMITIVE

}  // namespace

std::span<const Primitive* const> all_primitives() { return kAll; }

const Primitive* find_primitive(std::string_view name) {
  for (const Primitive* p : kAll) {
    if (name == p->name) return p;
  }
  return nullptr;
}

std::string internal::public_name(std::string_view op) {
  const Primitive* p = find_primitive(op);
  return std::string(p != nullptr && p->public_name != nullptr ? p->public_name : op);
}

}  // namespace spruce
