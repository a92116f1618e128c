// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/stop_gradient.h"

namespace spruce {

extern const Primitive stop_gradient_p;

Array stop_gradient(const Array& x, Loc loc) {
  const LocScope at(loc);
  return bind1(stop_gradient_p, {x});
}

}  // namespace spruce
