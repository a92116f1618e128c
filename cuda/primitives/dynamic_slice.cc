// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/dynamic_window.h"

namespace spruce::cuda {
namespace {

Kernels make_dynamic_slice(const PrepareArgs& a) {
  const Shape &x = a.in[0]->shape, &window = a.out[0]->shape;
  const int64_t bytes = size_of(a.in[0]->dtype);
  Kernels out;
  if (window.numel() == 0) return out;
  KernelBuilder kernel("dynamic_slice", a);
  out.steps.push_back(window_copy(kernel, x, window, 1, bytes, of_input(0), of_output(0), false));
  return out;
}

}  // namespace

extern const Twin dynamic_slice_twin = {&dynamic_slice_p, make_dynamic_slice};

}  // namespace spruce::cuda
