// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/random/primitives.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {
namespace {

Kernels make_random_gamma_grad(const PrepareArgs& a) {
  Kernels out;
  const Shape& shape = a.out[0]->shape;
  if (shape.numel() == 0) return out;
  KernelBuilder kernel("random_gamma_grad", a);
  kernel.front(special_prelude());
  const std::string p = kernel.input(0), x = kernel.input(1), y = kernel.output(0);
  std::string body = "    sp::i64 p = 0, q = 0;\n";
  body += walk_of(shape,
                  {broadcast_steps(a.in[0]->shape, shape), broadcast_steps(a.in[1]->shape, shape)})
              .places(kernel, "a", "i", {"p", "q"});
  const std::string type(text_type(a.out[0]->dtype));
  body += "    " + y + "[i] = sp::narrow<" + type + ">(sp::gamma_grad(sp::widen(" + p +
          "[p]), sp::widen(" + x + "[q])));\n";
  out.steps.push_back(kernel.for_each(shape.numel(), body));
  return out;
}

}  // namespace

extern const Twin random_gamma_grad_twin = {&random_gamma_grad_p, make_random_gamma_grad};

}  // namespace spruce::cuda
