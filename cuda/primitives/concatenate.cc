// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_concatenate(const PrepareArgs& a) {
  const auto axis = a.params.get<ConcatenateParams>().axis;
  const Shape to = row_major_strides(a.out[0]->shape);
  const int64_t bytes = size_of(a.out[0]->dtype);
  Kernels out;
  int64_t at = 0;
  for (size_t k = 0; k < a.in.size(); ++k) {
    const Shape& x = a.in[k]->shape;
    strided_copy(a, x, bytes, {of_input(k), 0, input_strides(a, k)},
                 {of_output(0), at * to[axis], to}, out);
    at += x[axis];
  }
  return out;
}

}  // namespace

extern const Twin concatenate_twin = {&concatenate_p, make_concatenate};

}  // namespace spruce::cuda
