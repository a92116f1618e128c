// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/reduction_parts.h"

#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/reduce.h"

namespace spruce::internal {

Array as_rows(const Array& x, const Axes& axes) {
  Axes perm = rules::other_axes(x.rank(), axes);
  Shape rows = rules::without_axes(x.shape(), axes);
  int64_t n = 1;
  for (const int64_t axis : axes) perm.push_back(axis), n *= x.shape()[static_cast<int>(axis)];
  rows.push_back(n);
  return reshape(transpose(x, perm), rows);
}

}  // namespace spruce::internal
