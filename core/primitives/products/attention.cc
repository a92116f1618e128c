// SPDX-License-Identifier: Apache-2.0
// softmax(scale query key^T) value with a mask (Vaswani et al. 2017).
#include "spruce/core/rules/attention.h"

#include "spruce/core/cpu/attention/attention_kernel.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/row_blocks.h"

namespace spruce {

namespace {

Aval attention_shape(const ShapeArgs& a) { return rules::attention_result(a, 3); }

std::vector<Array> attention_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AttentionParams>();
  const Array scores = matmul(in[0] * p.scale, swapaxes(in[1], -1, -2));
  const Array mask = in.size() > 3 ? in[3] : Array();
  return {matmul(rules::attention_weights(scores, mask, p.causal), in[2])};
}

Array added(const Array& a, const Array& b) { return rules::add_tangents(a, b); }

// Through the weights: the tangent of a mask is as large as they are.
Array slow_tangent(const JvpArgs& a) {
  const auto& p = a.params.get<AttentionParams>();
  const Array q = a.in[0] * p.scale, k = swapaxes(a.in[1], -1, -2);
  const Array weights = rules::attention_weights(matmul(q, k), a.in[3], p.causal);
  Array scores = broadcast_to(a.tangents[3], weights.shape()), out;
  if (a.tangents[0].defined()) scores = added(scores, matmul(a.tangents[0] * p.scale, k));
  if (a.tangents[1].defined()) scores = added(scores, matmul(q, swapaxes(a.tangents[1], -1, -2)));
  const Array moved = weights * scores;
  out = matmul(moved - weights * sum(moved, -1, {.keepdims = true}), a.in[2]);
  return a.tangents[2].defined() ? added(out, matmul(weights, a.tangents[2])) : out;
}

void attention_jvp(const JvpArgs& a) {
  if (a.in.size() > 3 && a.tangents[3].defined()) {
    a.out[0] = bind1(a.p, a.in, a.params);
    a.out_tangents[0] = slow_tangent(a);
    return;
  }
  const std::vector<Array> out = bind_all(attention_lse_p, a.in, a.params);
  std::vector<Array> in = {a.in[0], a.in[1], a.in[2], out[0], out[1]};
  for (size_t i = 0; i < 3; ++i) {
    const Array& t = a.tangents[i];
    in.push_back(t.defined() ? t : rules::zeros_of(a.in[i].aval()));
  }
  if (a.in.size() > 3) in.push_back(a.in[3]);
  a.out[0] = out[0];
  a.out_tangents[0] = bind1(attention_tangent_p, in, a.params);
}

double attention_flops(const PrepareArgs& a) {
  return rules::attention_flops(a.in[0]->shape, a.in[2]->shape);
}

// Of a batch, unless a mask goes along.
rules::RowReads attention_rows(const RowArgs& a) {
  if (a.in.size() != 3 || a.out[0]->shape.rank() < 3) return {};
  return rules::rows_alike(a);
}

}  // namespace

extern constinit const Primitive attention_p = {
    .name = "attention",
    .shape = attention_shape,
    .cpu = cpu::attention_kernel,
    .jvp = attention_jvp,
    .batch = rules::batch_attention<3>,
    .samples = rules::attention_samples,
    .params = kParamsOf<AttentionParams>,
    .expand = attention_expand,
    .prepare = cpu::prepare_attention,
    .takes_strides = rules::attention_takes_strides,
    .flops = attention_flops,
    .rows = attention_rows,
};

}  // namespace spruce
