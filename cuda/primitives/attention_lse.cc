// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"
#include "spruce/cuda/products/attention_products.h"

namespace spruce::cuda {
namespace {

Kernels make_attention_lse(const PrepareArgs& a) { return attention_forward(a, of_output(1)); }

}  // namespace

extern const Twin attention_lse_twin = {&attention_lse_p, make_attention_lse};

}  // namespace spruce::cuda
