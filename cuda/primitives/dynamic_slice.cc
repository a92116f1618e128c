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
  const std::string from = declare_bits(kernel, of_input(0), bytes),
                    to = declare_bits(kernel, of_output(0), bytes);
  std::string body = "    sp::i64 p = " + window_start(kernel, x, window, 1) + ";\n";
  body += walk_of(window, {row_major_strides(x)}).places(kernel, "a", "i", {"p"});
  body += "    " + to + "[i] = " + from + "[p];\n";
  out.steps.push_back(kernel.for_each(window.numel(), body));
  return out;
}

}  // namespace

extern const Twin dynamic_slice_twin = {&dynamic_slice_p, make_dynamic_slice};

}  // namespace spruce::cuda
