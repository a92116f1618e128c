// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"
#include "spruce/cuda/codegen/attention.h"

namespace spruce::cuda {
namespace {

Kernels make_attention_lse(const PrepareArgs& a) {
  Kernels out;
  attention_kernels(a, attention_shape(a, 3), input_array(a, 0), input_array(a, 1),
                    input_array(a, 2), output_array(a, 0), of_output(1), out);
  return out;
}

}  // namespace

extern const Twin attention_lse_twin = {&attention_lse_p, make_attention_lse};

}  // namespace spruce::cuda
