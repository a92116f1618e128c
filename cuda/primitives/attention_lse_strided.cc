// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention_strided.h"
#include "spruce/cuda/codegen/attention_strided.h"

namespace spruce::cuda {
namespace {

Kernels make_attention_lse_strided(const PrepareArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  const std::vector<AttentionArray> in = strided_inputs("attention_lse_strided", a, 3);
  Shape dense = p.query;
  dense[dense.rank() - 1] = p.values;
  Kernels out;
  attention_kernels(a, strided_attention(a), in[0], in[1], in[2],
                    strided_output(dense, p.perm, a.out[0]->shape, -1, 0, 0), of_output(1), out);
  return out;
}

}  // namespace

extern const Twin attention_lse_strided_twin = {&attention_lse_strided_p,
                                                make_attention_lse_strided};

}  // namespace spruce::cuda
