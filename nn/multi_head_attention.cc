// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/multi_head_attention.h"

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"

namespace spruce::nn {

MultiheadAttentionResult MultiHeadAttentionForwardFunction::operator()(
    const Array& query, const Array& key, const Array& value, int64_t num_heads,
    const Array& in_proj_weight, const Array& out_proj_weight,
    const MultiHeadAttentionForwardOptions& o, Loc loc) const {
  const char* op = "multi_head_attention_forward";
  const OpScope at(op, loc);
  spruce::internal::require_defined(op, "query", query, "out_proj_weight", out_proj_weight);
  const bool separate = !in_proj_weight.defined();
  if (separate &&
      !(o.q_proj_weight.defined() && o.k_proj_weight.defined() && o.v_proj_weight.defined())) {
    throw ValueError(std::string(op) +
                     ": in_proj_weight is undefined; then q_proj_weight, k_proj_weight and "
                     "v_proj_weight must be given");
  }
  const int64_t e = query.rank() == 0 ? 0 : query.shape(-1);
  if (num_heads < 1 || e % num_heads != 0) {
    throw ValueError(std::string(op) + ": num_heads is " + std::to_string(num_heads) +
                     "; it must divide the size of the query, which is " + to_string(query.aval()));
  }
  if (o.training && o.dropout_p != 0 && !o.key.defined()) {
    throw ValueError(std::string(op) +
                     ": dropout in training needs a key; give one as {.key = key}, or set "
                     ".training = false");
  }
  const auto given = [](const Array& a) { return a.defined() ? std::optional(a) : std::nullopt; };
  MultiheadAttention layer;
  layer.in_proj_weight = separate ? zeros({0, e}, out_proj_weight.dtype()) : in_proj_weight;
  layer.in_proj_bias = given(o.in_proj_bias);
  layer.out_proj = {out_proj_weight, given(o.out_proj_bias)};
  layer.num_heads = num_heads;
  layer.dropout = o.dropout_p;
  if (separate) {
    layer.q_proj_weight = o.q_proj_weight;
    layer.k_proj_weight = o.k_proj_weight;
    layer.v_proj_weight = o.v_proj_weight;
  }
  layer.bias_k = given(o.bias_k);
  layer.bias_v = given(o.bias_v);
  layer.add_zero_attn = o.add_zero_attn;
  Context ctx;
  ctx.training = o.training;
  ctx.key = o.key;
  const MultiheadMasks masks{o.key_padding_mask, o.attn_mask, o.is_causal};
  if (!o.need_weights) return {layer(query, key, value, ctx, masks), {}};
  return layer.with_weights(query, key, value, ctx, masks, o.average_attn_weights);
}

}  // namespace spruce::nn
