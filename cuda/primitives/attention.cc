// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"

#include "spruce/cuda/codegen/attention.h"

namespace spruce::cuda {
namespace {

Kernels make_attention(const PrepareArgs& a) {
  Kernels out;
  attention_kernels(a, dense_attention(a, 3), dense_array(of_input(0), a.in[0]->shape),
                    dense_array(of_input(1), a.in[1]->shape),
                    dense_array(of_input(2), a.in[2]->shape),
                    dense_array(of_output(0), a.out[0]->shape), std::nullopt, out);
  return out;
}

}  // namespace

extern const Twin attention_twin = {&attention_p, make_attention};

}  // namespace spruce::cuda
