// SPDX-License-Identifier: Apache-2.0
// Attention over heads where they stand, with what its derivatives need.
#include "spruce/core/cpu/attention/attention_kernel.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/attention_strided.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Shape result_of(const AttentionStridedParams& p) {
  Shape dense = p.query;
  dense[dense.rank() - 1] = p.values;
  return dense;
}

std::vector<Aval> attention_lse_strided_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  rules::strided_operands(a.op, a.in, a.params, 3);
  if (p.joined != -1) throw ShapeError(std::string(a.op) + ": there is nothing to join");
  const Dtype dtype = a.in[0]->dtype;
  return {{dtype, false, rules::strided_shape(a.op, result_of(p), p.perm, -1, 1)},
          rules::attention_lse({dtype, false, p.query})};
}

std::vector<Array> attention_lse_strided_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AttentionStridedParams>();
  std::vector<Array> dense;
  for (const rules::StridedView& v : rules::strided_operands_of(in, params, 3))
    dense.push_back(rules::strided_array(in, v));
  std::vector<Array> out =
      bind_all(attention_lse_p, dense, Params::make(AttentionParams{p.scale, p.causal}));
  out[0] = rules::transpose_axes(out[0], p.perm);
  return out;
}

double attention_lse_strided_flops(const PrepareArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  return rules::attention_flops(p.query, {p.keys, p.values});
}

std::vector<Sample> attention_lse_strided_samples() {
  // Query, key and value of one array [2, 3, 3, 2, 4], then of three arrays.
  return rules::strided_samples(
      {{{2, 3, 3, 2, 4}}, {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 5, 2, 3}}},
      {AttentionStridedParams{0.5,
                              true,
                              {2, 2, 3, 4},
                              3,
                              4,
                              {0, 0, 72, 4, 24, 0, 8, 72, 4, 24, 0, 16, 72, 4, 24},
                              {0, 2, 1, 3},
                              -1},
       AttentionStridedParams{0.5,
                              false,
                              {2, 2, 3, 4},
                              5,
                              3,
                              {0, 0, 24, 12, 4, 1, 0, 40, 20, 4, 2, 0, 30, 3, 6},
                              {0, 1, 2, 3},
                              -1}});
}

}  // namespace

extern constinit const Primitive attention_lse_strided_p = {
    .name = "attention_lse_strided",
    .shapes = attention_lse_strided_shapes,
    .cpu = cpu::attention_lse_strided_kernel,
    .samples = attention_lse_strided_samples,
    .params = kParamsOf<AttentionStridedParams>,
    .expand = attention_lse_strided_expand,
    .prepare = cpu::prepare_attention_lse_strided,
    .flops = attention_lse_strided_flops,
};

}  // namespace spruce
