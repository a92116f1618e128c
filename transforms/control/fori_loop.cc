// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/control/fori_loop.h"

namespace spruce::internal {

void check_bound(const Array& bound) {
  const std::string text = "fori_loop: a bound is " + to_string(bound.aval());
  if (!is_integer(bound.dtype()))
    throw DtypeError(text + ", not an integer; convert it with astype");
  if (bound.rank() != 0) throw ShapeError(text + "; it must be one number");
}

}  // namespace spruce::internal
