// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"

#include "spruce/cuda/products/attention_products.h"

namespace spruce::cuda {
namespace {

Kernels make_attention(const PrepareArgs& a) { return attention_forward(a, std::nullopt); }

}  // namespace

extern const Twin attention_twin = {&attention_p, make_attention};

}  // namespace spruce::cuda
