// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/rows.h"

#include "spruce/core/rules/elementwise.h"

namespace spruce::rules {

Aval rows_floating(const ShapeArgs& a) {
  if (a.in[0]->shape.rank() == 0) {
    throw ShapeError(std::string(a.op) + ": works along an axis, got " + to_string(*a.in[0]) +
                     ", which has none; reshape it first");
  }
  return same_floating(a);
}

std::vector<Sample> row_samples() {
  return internal::samples_over({{{5}}, {{1}}, {{3, 4}}, {{2, 1, 17}}, {{0, 3}}, {{3, 0}}},
                                Dtype::kFloat32, -2, 2);
}

}  // namespace spruce::rules
