// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/primitives/linalg/parts.h"

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce::rules {

Array mirrored(const Array& x) { return tril(x) + transposed(strictly_lower(x)); }

Array strictly_lower(const Array& x) { return tril(x, -1); }

Array lower_half(const Array& x) { return tril(x) - scalar_like(0.5, x) * (identity_like(x) * x); }

Array identity_like(const Array& x) {
  const spruce::internal::SameDevice here(x);
  const Shape shape{x.shape()[x.rank() - 2], x.shape().back()};
  return convert(equal(iota(shape, Dtype::kInt32, 0), iota(shape, Dtype::kInt32, 1)), x.dtype());
}

}  // namespace spruce::rules
