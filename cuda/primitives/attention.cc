// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"

#include "spruce/cuda/products/attention_products.h"

namespace spruce::cuda {
namespace {

Kernels make_attention(const PrepareArgs& a) {
  const AttentionShape shape = attention_shape(a, 3);
  const AttentionArray query = input_array(a, 0), key = input_array(a, 1),
                       value = input_array(a, 2), result = output_array(a, 0);
  std::optional<Kernels> by_library =
      library_attention(a, shape, query, key, value, result, std::nullopt);
  if (by_library) return *std::move(by_library);
  Kernels out;
  attention_kernels(a, shape, query, key, value, result, std::nullopt, out);
  return out;
}

}  // namespace

extern const Twin attention_twin = {&attention_p, make_attention};

}  // namespace spruce::cuda
