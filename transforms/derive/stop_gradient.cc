// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/derive/stop_gradient.h"

#include "spruce/core/op_scope.h"

namespace spruce {

extern const Primitive stop_gradient_p;

Array StopGradientFunction::operator()(const Array& x, Loc loc) const {
  const OpScope at("stop_gradient", loc);
  return bind1(stop_gradient_p, {x});
}

}  // namespace spruce
