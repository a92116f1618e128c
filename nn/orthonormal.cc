// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/orthonormal.h"

#include "spruce/core/default_device.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/index.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/nn/array_loop.h"

namespace spruce::nn::internal {

Array orthonormal_columns(const Array& x) {
  const spruce::internal::SameDevice here(x);
  const int64_t n = x.shape(0), m = x.shape(1);
  // Row i of the carry is column i of the result; rows that are not reached yet are zeros.
  const auto step = [](std::span<const Array> in) {
    const Array &rows = in[0], &place = in[2];
    Array v = in[1];
    for (int pass = 0; pass < 2; ++pass) v = v - matmul(matmul(rows, v), rows);
    v = v / sqrt(sum(square(v)));
    return std::vector<Array>{rows + expand_dims(place, 1) * v};
  };
  const std::vector<Array> rows = scan_arrays(
      {zeros({m, n}, x.dtype())}, {transpose(x), eye(m, {.dtype = x.dtype()})}, false, step);
  return transpose(rows[0]);
}

}  // namespace spruce::nn::internal
