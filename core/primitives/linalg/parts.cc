// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/primitives/linalg/parts.h"

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/matrices.h"
#include "spruce/core/rules/decompositions.h"
#include "spruce/core/rules/elementwise.h"

namespace spruce::rules {

Array mirrored(const Array& x) { return tril(x) + transposed(strictly_lower(x)); }

Array strictly_lower(const Array& x) { return tril(x, -1); }

Array lower_half(const Array& x) {
  return tril(x) - scalar_like(0.5, x) * (spruce::internal::identity_like(x) * x);
}

Sample matrix_sample(const Shape& shape, std::vector<double> values, Params params) {
  SampleInput in;
  in.aval = Aval{Dtype::kFloat32, false, shape};
  in.values = std::move(values);
  return {.in = {in}, .params = std::move(params)};
}

}  // namespace spruce::rules
