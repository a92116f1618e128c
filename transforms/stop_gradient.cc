// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/stop_gradient.h"

#include "spruce/core/op_scope.h"

namespace spruce {

extern const Primitive stop_gradient_p;

Array stop_gradient(const Array& x, Loc loc) {
  const OpScope at("stop_gradient", loc);
  return bind1(stop_gradient_p, {x});
}

}  // namespace spruce
