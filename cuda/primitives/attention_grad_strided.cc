// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention_strided.h"
#include "spruce/cuda/codegen/attention_strided.h"

namespace spruce::cuda {
namespace {

Kernels make_attention_grad_strided(const PrepareArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  const std::vector<AttentionArray> in = strided_inputs("attention_grad_strided", a, 5);
  Shape key = p.query, value = p.query;
  key[-2] = value[-2] = p.keys;
  value[-1] = p.values;
  const auto result = [&](const Shape& dense, size_t k) {
    const size_t output = p.joined >= 0 ? 0 : k;
    return strided_output(dense, p.perm, a.out[output]->shape, p.joined, output,
                          static_cast<int64_t>(k));
  };
  Kernels out;
  const size_t lse = a.in.size() - 1;
  attention_grad_kernels(a, strided_attention(a),
                         {in[0], in[1], in[2], in[3], in[4], of_input(lse), a.in[lse]->dtype,
                          result(p.query, 0), result(key, 1), result(value, 2)},
                         out);
  return out;
}

}  // namespace

extern const Twin attention_grad_strided_twin = {&attention_grad_strided_p,
                                                 make_attention_grad_strided};

}  // namespace spruce::cuda
