// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/nan_outside.h"

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {
namespace {

Kernels make_nan_outside(const PrepareArgs& a) {
  Kernels out;
  const int64_t n = a.out[0]->numel();
  if (n == 0) return out;
  const std::string type(text_type(a.out[0]->dtype)), computed(compute_type(a.out[0]->dtype));
  KernelBuilder kernel("nan_outside", a);
  const std::string x = kernel.input(0), y = kernel.output(0);
  kernel.value("size", a.params.get<NanOutsideParams>().size);
  out.steps.push_back(kernel.for_each(n, "    " + y + "[i] = sp::narrow<" + type + ">(" + x +
                                             "[i] >= 0 && " + x + "[i] < size ? " + computed +
                                             "(1) : sp::quiet_nan<" + computed + ">());\n"));
  return out;
}

}  // namespace

extern const Twin nan_outside_twin = {&nan_outside_p, make_nan_outside};

}  // namespace spruce::cuda
