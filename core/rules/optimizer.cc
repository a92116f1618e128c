// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/optimizer.h"

#include "spruce/core/rules/elementwise.h"

namespace spruce::rules {

Aval same_pair(const ShapeArgs& a) {
  const Aval out = broadcast_floating(a);
  for (size_t i = 0; i < 2; ++i) {
    if (!(a.in[i]->shape == out.shape)) {
      throw ShapeError(std::string(a.op) + ": takes two arrays of one shape, got " +
                       to_string(*a.in[0]) + " and " + to_string(*a.in[1]));
    }
  }
  return out;
}

}  // namespace spruce::rules
