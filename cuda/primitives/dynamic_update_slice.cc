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
  const std::string from = declare_bits(kernel, of_input(1), bytes),
                    to = declare_bits(kernel, of_output(0), bytes);
  std::string body = "    sp::i64 p = " + window_start(kernel, x, window, 2) + ";\n";
  body += walk_of(window, {row_major_strides(x)}).places(kernel, "a", "i", {"p"});
  body += "    " + to + "[p] = " + from + "[i];\n";
  out.steps.push_back(kernel.for_each(window.numel(), body));
  return out;
}

}  // namespace

extern const Twin dynamic_update_slice_twin = {&dynamic_update_slice_p, make_dynamic_update_slice};

}  // namespace spruce::cuda
