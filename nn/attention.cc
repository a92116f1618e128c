// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/attention.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/function.h"
#include "spruce/core/ops/join.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/ranges.h"
#include "spruce/core/rules/attention.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/attention_parts.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init.h"

namespace spruce::nn {
namespace internal {

std::string types_text(const Array& query, const Array& key, const Array& value) {
  return "query " + to_string(query.aval()) + ", key " + to_string(key.aval()) + " and value " +
         to_string(value.aval());
}

void check_mask(const char* op, const char* name, const Array& mask) {
  if (!mask.defined() || mask.dtype() == bool_ || is_floating(mask.dtype())) return;
  throw DtypeError(std::string(op) + ": " + name + " must be bool or floating, got " +
                   to_string(mask.aval()));
}

}  // namespace internal

namespace {

using internal::check_mask, internal::types_text;
using spruce::internal::check_range, spruce::internal::Range;

// How many heads of the query share one of key and value.
int64_t heads_for_one(const Array& q, const Array& k, const Array& v) {
  const bool ranks = q.rank() >= 3 && k.rank() >= 3 && v.rank() >= 3;
  const int64_t heads = ranks ? k.shape(-3) : 0;
  if (heads < 1 || v.shape(-3) != heads || q.shape(-3) % heads != 0) {
    throw ShapeError("scaled_dot_product_attention: " + types_text(q, k, v) +
                     " do not fit for enable_gqa: key and value must have as many heads as each "
                     "other, f[..., heads, s, d], and they must divide those of the query");
  }
  return q.shape(-3) / heads;
}

void check_attention(const Array& q, const Array& k, const Array& v, const AttentionOptions& o) {
  const char* op = "scaled_dot_product_attention: ";
  const bool ranks = q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2;
  if (!ranks || q.shape(-1) != k.shape(-1) || k.shape(-2) != v.shape(-2)) {
    throw ShapeError(op + types_text(q, k, v) +
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
  if (o.enable_gqa) {
    const int64_t times = heads_for_one(query, key, value);
    AttentionOptions options = o;
    options.enable_gqa = false;
    if (times == 1) return (*this)(query, key, value, options);
    return (*this)(query, repeat(key, times, -3), repeat(value, times, -3), options);
  }
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

}  // namespace spruce::nn
