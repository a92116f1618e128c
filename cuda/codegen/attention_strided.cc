// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/attention_strided.h"

namespace spruce::cuda {

std::vector<AttentionArray> strided_inputs(const char* op, const PrepareArgs& args, size_t count) {
  std::vector<AttentionArray> all;
  for (const rules::StridedView& v : rules::strided_operands(op, args.in, args.params, count))
    all.push_back({of_input(v.input), v.offset, v.steps});
  return all;
}

AttentionArray strided_output(const Shape& dense, const Axes& perm, const Shape& shape,
                              int64_t joined, size_t output, int64_t part) {
  const rules::StridedView v = rules::strided_result(dense, perm, shape, joined, part);
  return {of_output(output), v.offset, v.steps};
}

AttentionShape strided_attention(const PrepareArgs& args) {
  const auto& p = args.params.get<AttentionStridedParams>();
  Shape batch = p.query;
  batch.erase(batch.rank() - 1);
  batch.erase(batch.rank() - 1);
  return {args.in[0]->dtype, batch,   p.query[-2], p.keys, p.query[-1],
          p.values,          p.scale, p.causal,    {}};
}

}  // namespace spruce::cuda
