// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/branches/cond.h"

#include "spruce/core/ops/function.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/shape.h"

namespace spruce::internal {

Array predicate_index(const Array& predicate) {
  require_defined("cond", "predicate", predicate);
  if (predicate.rank() != 0) {
    throw ShapeError("cond: the predicate is " + to_string(predicate.aval()) +
                     "; it must be one bool: reduce it with all or any, or choose element by "
                     "element with where");
  }
  return astype(internal::math::truth(predicate), int32);
}

}  // namespace spruce::internal
