// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/strided.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_transpose(const PrepareArgs& a) {
  const Shape& y = a.out[0]->shape;
  const Axes& perm = a.params.get<TransposeParams>().perm;
  const Shape strides = input_strides(a, 0);
  Shape from = strides;
  for (int i = 0; i < perm.rank(); ++i) from[i] = strides[perm[i]];
  Kernels out;
  strided_copy(a, y, size_of(a.in[0]->dtype), {of_input(0), 0, from},
               {of_output(0), 0, row_major_strides(y)}, out);
  return out;
}

}  // namespace

extern const Twin transpose_twin = {&transpose_p, make_transpose};

}  // namespace spruce::cuda
