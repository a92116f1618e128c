// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/shape.h"
#include "spruce/cuda/codegen/dynamic_window.h"

namespace spruce::cuda {
namespace {

Kernels make_dynamic_update_slice(const PrepareArgs& a) {
  const Shape &x = a.in[0]->shape, &window = a.in[1]->shape;
  const int64_t bytes = size_of(a.in[0]->dtype);
  Kernels out;
  whole_copy(a, 0, 0, out);
  if (window.numel() == 0) return out;
  KernelBuilder kernel("dynamic_update_slice", a);
  out.steps.push_back(window_copy(kernel, x, window, 2, bytes, of_output(0), of_input(1), true));
  return out;
}

}  // namespace

extern const Twin dynamic_update_slice_twin = {&dynamic_update_slice_p, make_dynamic_update_slice};

}  // namespace spruce::cuda
