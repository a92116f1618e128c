// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/orthonormal.h"

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/transforms/control/scan.h"

namespace spruce::nn::internal {

Array orthonormal_columns(const Array& x) {
  const int64_t n = x.shape(0), m = x.shape(1);
  // Row i of the carry is column i of the result; rows that are not reached yet are zeros.
  const auto step = [](const Array& rows, const std::pair<Array, Array>& in) {
    const auto& [column, place] = in;
    Array v = column;
    for (int pass = 0; pass < 2; ++pass) v = v - matmul(matmul(rows, v), rows);
    v = v / sqrt(sum(square(v)));
    return std::pair{rows + expand_dims(place, 1) * v, none};
  };
  const Array rows =
      scan(step, zeros({m, n}, x.dtype()), std::pair{transpose(x), eye(m, {.dtype = x.dtype()})})
          .first;
  return transpose(rows);
}

}  // namespace spruce::nn::internal
