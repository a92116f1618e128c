// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_slice(const PrepareArgs& a) {
  const Shape& y = a.out[0]->shape;
  const auto& p = a.params.get<SliceParams>();
  Shape from = input_strides(a, 0);
  int64_t offset = 0;
  for (int i = 0; i < from.rank(); ++i) {
    offset += p.start[i] * from[i];
    if (y[i] > 1) from[i] *= p.stride[i];
  }
  Kernels out;
  strided_copy(a, y, size_of(a.in[0]->dtype), {of_input(0), offset, from},
               {of_output(0), 0, row_major_strides(y)}, out);
  return out;
}

}  // namespace

extern const Twin slice_twin = {&slice_p, make_slice};

}  // namespace spruce::cuda
