// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"
#include "spruce/cuda/products/attention_products.h"

namespace spruce::cuda {
namespace {

Kernels make_attention_grad(const PrepareArgs& a) {
  const auto in = [&](size_t i) { return input_array(a, i); };
  const auto result = [&](size_t k) { return output_array(a, k); };
  const AttentionShape shape = attention_shape(a, 6);
  const AttentionGrad arrays{in(0),       in(1),          in(2),     in(3),     in(5),
                             of_input(4), a.in[4]->dtype, result(0), result(1), result(2)};
  return attention_backward(a, shape, arrays);
}

}  // namespace

extern const Twin attention_grad_twin = {&attention_grad_p, make_attention_grad};

}  // namespace spruce::cuda
