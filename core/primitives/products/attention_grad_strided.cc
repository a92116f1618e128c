// SPDX-License-Identifier: Apache-2.0
// The cotangents of attention's operands from where these stand to where they are wanted.
#include "spruce/core/cpu/attention/attention_kernel.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/attention_strided.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

std::vector<Aval> attention_grad_strided_shapes(const ShapeArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  const std::vector<rules::StridedView> in = rules::strided_operands(a.op, a.in, a.params, 5);
  const Dtype dtype = a.in[0]->dtype;
  rules::check_attention_input(a, a.in.size() - 1, "log-sum-exp",
                               rules::attention_lse({dtype, false, p.query}));
  if (p.joined >= 0) {
    if (!(in[0].shape == in[1].shape && in[0].shape == in[2].shape))
      throw ShapeError(std::string(a.op) + ": cotangents of several shapes cannot be joined");
    return {{dtype, false, rules::strided_shape(a.op, in[0].shape, p.perm, p.joined, 3)}};
  }
  std::vector<Aval> out;
  for (size_t i = 0; i < 3; ++i)
    out.push_back({dtype, false, rules::strided_shape(a.op, in[i].shape, p.perm, -1, 1)});
  return out;
}

std::vector<Array> attention_grad_strided_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AttentionStridedParams>();
  std::vector<Array> dense;
  for (const rules::StridedView& v : rules::strided_operands_of(in, params, 5))
    dense.push_back(rules::strided_array(in, v));
  dense.insert(dense.begin() + 4, in.back());
  std::vector<Array> out =
      bind_all(attention_grad_p, dense, Params::make(AttentionParams{p.scale, p.causal}));
  for (Array& x : out) x = rules::transpose_axes(x, p.perm);
  if (p.joined < 0) return out;
  return {stack(out, p.joined)};
}

double attention_grad_strided_flops(const PrepareArgs& a) {
  const auto& p = a.params.get<AttentionStridedParams>();
  return rules::attention_grad_flops(p.query, {p.keys, p.values});
}

std::vector<Sample> attention_grad_strided_samples() {
  // Query, key and value of one array [2, 3, 3, 2, 4], then of three arrays.
  return rules::strided_samples(
      {{{2, 3, 3, 2, 4}, {2, 3, 2, 4}, {2, 2, 3, 4}, {2, 2, 3}},
       {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 5, 2, 3}, {2, 2, 3, 3}, {2, 3, 2, 3}, {2, 2, 3}}},
      {AttentionStridedParams{
           0.5,
           true,
           {2, 2, 3, 4},
           3,
           4,
           {0, 0, 72, 4, 24, 0, 8, 72, 4, 24, 0, 16, 72, 4, 24, 1, 0, 24, 4, 8, 2, 0, 24, 12, 4},
           {0, 2, 1, 3},
           2},
       AttentionStridedParams{
           0.5,
           false,
           {2, 2, 3, 4},
           5,
           3,
           {0, 0, 24, 12, 4, 1, 0, 40, 20, 4, 2, 0, 30, 3, 6, 3, 0, 18, 9, 3, 4, 0, 18, 3, 6},
           {0, 2, 1, 3},
           -1}});
}

}  // namespace

extern constinit const Primitive attention_grad_strided_p = {
    .name = "attention_grad_strided",
    .shapes = attention_grad_strided_shapes,
    .cpu = cpu::attention_grad_strided_kernel,
    .samples = attention_grad_strided_samples,
    .params = kParamsOf<AttentionStridedParams>,
    .expand = attention_grad_strided_expand,
    .prepare = cpu::prepare_attention_grad_strided,
    .flops = attention_grad_strided_flops,
};

}  // namespace spruce
