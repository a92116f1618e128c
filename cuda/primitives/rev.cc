// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_rev(const PrepareArgs& a) {
  const Shape& x = a.in[0]->shape;
  const Shape strides = input_strides(a, 0);
  Shape from = strides;
  int64_t offset = 0;
  for (const int64_t i : a.params.get<ReverseParams>().axes) {
    offset += (x[i] - 1) * strides[i];
    from[i] = -strides[i];
  }
  Kernels out;
  strided_copy(a, x, size_of(a.in[0]->dtype), {of_input(0), offset, from},
               {of_output(0), 0, row_major_strides(x)}, out);
  return out;
}

}  // namespace

extern const Twin rev_twin = {&rev_p, make_rev};

}  // namespace spruce::cuda
