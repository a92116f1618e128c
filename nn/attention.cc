// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/attention.h"

#include <cmath>
#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/attention.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init.h"

namespace spruce::nn {
namespace {

using spruce::internal::check_range, spruce::internal::Range;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::string text(const Array& q, const Array& k, const Array& v) {
  return "query " + to_string(q.aval()) + ", key " + to_string(k.aval()) + " and value " +
         to_string(v.aval());
}

// Integers would be added to the scores as they are, which is not what masks of 0 and 1 mean.
void check_mask(const char* op, const char* name, const Array& mask) {
  if (!mask.defined() || mask.dtype() == bool_ || is_floating(mask.dtype())) return;
  throw DtypeError(std::string(op) + ": " + name + " must be bool or floating, got " +
                   to_string(mask.aval()));
}

void check_attention(const Array& q, const Array& k, const Array& v, const AttentionOptions& o) {
  const char* op = "scaled_dot_product_attention: ";
  const bool ranks = q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2;
  if (!ranks || q.shape(-1) != k.shape(-1) || k.shape(-2) != v.shape(-2)) {
    throw ShapeError(op + text(q, k, v) +
                     " do not fit: they must be f[..., t, d], f[..., s, d] and f[..., s, e]");
  }
  if (o.attn_mask.defined() && o.is_causal) {
    throw ValueError(std::string(op) +
                     "attn_mask and is_causal exclude each other; put the causal mask, "
                     "tri(t, {.columns = s, .dtype = bool_}), into attn_mask");
  }
  check_mask("scaled_dot_product_attention", "attn_mask", o.attn_mask);
  check_range("scaled_dot_product_attention", "dropout_p", o.dropout_p, Range::kShare);
  if (o.scale.has_value())
    check_range("scaled_dot_product_attention", "scale", *o.scale, Range::kFinite);
  if (o.dropout_p != 0 && !o.dropout_key.defined()) {
    throw ValueError(std::string(op) +
                     "dropout_p needs a key; give one as {.dropout_p = p, .dropout_key = key}, or "
                     "leave dropout_p out, as in evaluation");
  }
}

// True for what the attention primitive takes as it is.
bool is_single(const Array& q, const Array& k, const Array& v, const AttentionOptions& o) {
  const int r = q.rank();
  if (o.dropout_p != 0 || k.rank() != r || v.rank() != r || q.aval().weak) return false;
  for (int i = 0; i + 2 < r; ++i) {
    if (k.shape(i) != q.shape(i) || v.shape(i) != q.shape(i)) return false;
  }
  const auto is_as_query = [&](const Array& x) { return x.dtype() == q.dtype(); };
  if (!is_floating(q.dtype()) || !is_as_query(k) || !is_as_query(v)) return false;
  const Array& mask = o.attn_mask;
  if (!mask.defined()) return true;
  Shape scores = q.shape();
  scores[r - 1] = k.shape(-2);
  return (mask.dtype() == bool_ || is_as_query(mask)) && broadcasts_to(mask.shape(), scores);
}

}  // namespace

Array ScaledDotProductAttentionFunction::operator()(const Array& query, const Array& key,
                                                    const Array& value, const AttentionOptions& o,
                                                    Loc loc) const {
  const OpScope at("scaled_dot_product_attention", loc);
  spruce::internal::require_defined("scaled_dot_product_attention", "query", query, "key", key,
                                    "value", value);
  check_attention(query, key, value, o);
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(query.shape(-1))));
  if (is_single(query, key, value, o)) {
    std::vector<Array> in = {query, key, value};
    if (o.attn_mask.defined()) in.push_back(o.attn_mask);
    return bind1(attention_p, in, Params::make(AttentionParams{scale, o.is_causal}));
  }
  const Array scores = matmul(query * scale, swapaxes(key, -1, -2));
  Array weights = rules::attention_weights(scores, o.attn_mask, o.is_causal);
  if (o.dropout_p != 0) weights = nn::dropout(weights, {.p = o.dropout_p, .key = o.dropout_key});
  return matmul(weights, value);
}

MultiheadAttention MultiheadAttention::init(const Key& key, int64_t e, int64_t num_heads,
                                            const MultiheadAttentionOptions& o, Loc loc) {
  const OpScope at("MultiheadAttention::init", loc);
  if (num_heads < 1 || e % num_heads != 0) {
    throw ValueError("MultiheadAttention: num_heads is " + std::to_string(num_heads) +
                     ", it must divide embed_dim, which is " + std::to_string(e));
  }
  check_range("MultiheadAttention", "dropout", o.dropout, Range::kShare);
  const auto [k_in, k_out] = random::split<2>(key);
  MultiheadAttention layer;
  layer.in_proj_weight = init::glorot_uniform(k_in, {3 * e, e}, o.dtype);
  layer.out_proj = Linear::init(k_out, e, e, {.bias = false, .dtype = o.dtype});
  if (o.bias) {
    layer.in_proj_bias = zeros({3 * e}, o.dtype);
    layer.out_proj.bias = zeros({e}, o.dtype);
  }
  layer.num_heads = num_heads;
  layer.dropout = o.dropout;
  layer.batch_first = o.batch_first;
  return layer;
}

namespace {

// A mask as something to add to the scores; true forbids.
Array additive(const Array& mask, Dtype dtype) {
  if (mask.dtype() != bool_) return astype(mask, dtype);
  return where(mask, full({}, kMinusInfinity, dtype), zeros({}, dtype));
}

// What `masks` adds to the scores [n, heads, t, s], shaped to broadcast; undefined where they say
// nothing.
Array joined_mask(const MultiheadMasks& masks, int64_t n, int64_t heads, int64_t t, int64_t s,
                  Dtype dtype) {
  check_mask("MultiheadAttention", "attn_mask", masks.attn_mask);
  check_mask("MultiheadAttention", "key_padding_mask", masks.key_padding_mask);
  Array total;
  const auto add = [&](const Array& m) { total = total.defined() ? total + m : m; };
  if (const Array& m = masks.attn_mask; m.defined()) {
    const bool by_head = m.shape() == Shape{n * heads, t, s};
    if (!by_head && m.shape() != Shape{t, s}) {
      throw ShapeError("MultiheadAttention: attn_mask is " + to_string(m.aval()) + ", it must be " +
                       to_string(Shape{t, s}) + " or " + to_string(Shape{n * heads, t, s}));
    }
    add(additive(by_head ? reshape(m, {n, heads, t, s}) : m, dtype));
  }
  if (const Array& m = masks.key_padding_mask; m.defined()) {
    if (m.shape() != Shape{n, s} && !(n == 1 && m.shape() == Shape{s})) {
      throw ShapeError("MultiheadAttention: key_padding_mask is " + to_string(m.aval()) +
                       ", it must be " + to_string(Shape{n, s}));
    }
    add(reshape(additive(m, dtype), {n, 1, 1, s}));
  }
  if (masks.is_causal && total.defined())
    add(additive(logical_not(tri(t, {.columns = s, .dtype = bool_})), dtype));
  return total;
}

}  // namespace

Array MultiheadAttention::operator()(const Array& query, const Array& key, const Array& value,
                                     const MultiheadMasks& masks, Loc loc) const {
  Context evaluation;
  return (*this)(query, key, value, evaluation, masks, loc);
}

Array MultiheadAttention::operator()(const Array& query, const Array& key, const Array& value,
                                     Context& ctx, const MultiheadMasks& masks, Loc loc) const {
  const OpScope at("MultiheadAttention", loc);
  spruce::internal::require_defined("MultiheadAttention", "query", query, "key", key, "value",
                                    value, "in_proj_weight", in_proj_weight);
  const int64_t e = in_proj_weight.shape(1), d = e / num_heads;
  const int rank = query.rank();
  const auto fits = [&](const Array& a) { return a.rank() == rank && a.shape(-1) == e; };
  if ((rank != 2 && rank != 3) || !fits(query) || !fits(key) || !fits(value)) {
    throw ShapeError("MultiheadAttention: " + text(query, key, value) + " must all be " +
                     (batch_first ? "f[n, t, " : "f[t, n, ") + std::to_string(e) +
                     "] or all f[t, " + std::to_string(e) + "]");
  }
  const int batch_axis = batch_first ? 0 : 1;
  const bool one_batch = rank == 2 || (query.shape(batch_axis) == key.shape(batch_axis) &&
                                       key.shape(batch_axis) == value.shape(batch_axis));
  const int time_axis = rank == 3 && batch_first ? 1 : 0;
  if (!one_batch || key.shape(time_axis) != value.shape(time_axis)) {
    throw ShapeError("MultiheadAttention: " + text(query, key, value) +
                     " do not fit: " + (rank == 3 ? "all must have one batch size, and " : "") +
                     "key and value one length");
  }
  // f[t, n, e] -> f[n, heads, t, d] of one third of the projection.
  const bool time_first = rank == 3 && !batch_first;
  const std::vector<Array> weights = split(in_proj_weight, 3);
  const std::vector<Array> biases = in_proj_bias ? split(*in_proj_bias, 3) : std::vector<Array>(3);
  const auto heads = [&](const Array& x, size_t part) {
    const Array y = linear(x, weights[part], biases[part]);
    const Array batched = rank == 2 ? expand_dims(y, 0) : time_first ? swapaxes(y, 0, 1) : y;
    const int64_t n = batched.shape(0), t = batched.shape(1);
    return transpose(reshape(batched, {n, t, num_heads, d}), {0, 2, 1, 3});
  };
  const Array q = heads(query, 0), k = heads(key, 1), v = heads(value, 2);
  const int64_t n = q.shape(0), t = q.shape(2);
  AttentionOptions options{.attn_mask = joined_mask(masks, n, num_heads, t, k.shape(2), q.dtype())};
  options.is_causal = masks.is_causal && !options.attn_mask.defined();
  if (ctx.training && dropout != 0) {
    options.dropout_p = dropout;
    options.dropout_key = ctx.next_key("MultiheadAttention");
  }
  const Array attended = scaled_dot_product_attention(q, k, v, options);
  const Array joined = reshape(transpose(attended, {0, 2, 1, 3}), {n, t, e});
  const Array y = out_proj(joined);
  return rank == 2 ? squeeze(y, 0) : time_first ? swapaxes(y, 0, 1) : y;
}

}  // namespace spruce::nn
