// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/deviations.h"

#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/shape.h"

namespace spruce::internal {

Deviations deviations(const Array& x, const Axes& axes) {
  const Dtype dtype = x.dtype(), wide = is_half(dtype) ? float32 : dtype;
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(x.shape()[static_cast<int>(axis)]);
  const Array n = rules::scalar_of(wide, count);
  Shape kept = x.shape();
  for (const int64_t axis : axes) kept[static_cast<int>(axis)] = 1;
  const auto constant = [](const Array& v) { return bind1(stop_gradient_p, {v}); };
  Deviations d;
  d.mean = constant(rules::convert(sum(rules::convert(x, wide), axes) / n, dtype));
  d.from_mean = x - reshape(d.mean, kept);
  const Array distance = rules::convert(d.from_mean, wide), sum_of_distances = sum(distance, axes);
  const Array rest = sum_of_distances / n;
  d.rest = rules::convert(rest, dtype);
  const Array squares = sum(distance * distance, axes) - sum_of_distances * rest;
  // Where all elements are equal, rounding may leave less than 0.
  d.of_squares = squares - constant(minimum(squares, rules::scalar_of(wide, 0)));
  return d;
}

}  // namespace spruce::internal
