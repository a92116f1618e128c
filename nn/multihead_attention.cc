// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "spruce/core/default_device.h"
#include "spruce/core/op_scope.h"
#include "spruce/core/ops/compare.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/dynamic_slice.h"
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
#include "spruce/nn/attention.h"
#include "spruce/nn/attention_parts.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/known_indices.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {
namespace {

constexpr const char* kOp = "MultiheadAttention";
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// A mask as something to add to the scores; true forbids.
Array additive(const Array& mask, Dtype dtype) {
  if (mask.dtype() != bool_) return astype(mask, dtype);
  return where(mask, full({}, kForbidden, dtype), zeros({}, dtype));
}

// The sizes of scores [n, heads, t, s + extra].
struct Scores {
  int64_t n, heads, t, s, extra;
  Dtype dtype;
};

// What `masks` adds to the scores, shaped to broadcast; undefined where they say nothing. The
// `extra` keys at the end are open to all.
Array joined_mask(const MultiheadMasks& masks, const Scores& z) {
  internal::check_mask(kOp, "attn_mask", masks.attn_mask);
  internal::check_mask(kOp, "key_padding_mask", masks.key_padding_mask);
  Array total;
  const auto add = [&](const Array& m) { total = total.defined() ? total + m : m; };
  if (const Array& m = masks.attn_mask; m.defined()) {
    const bool by_head = m.shape() == Shape{z.n * z.heads, z.t, z.s};
    if (!by_head && m.shape() != Shape{z.t, z.s}) {
      throw ShapeError("MultiheadAttention: attn_mask is " + to_string(m.aval()) + ", it must be " +
                       to_string(Shape{z.t, z.s}) + " or " +
                       to_string(Shape{z.n * z.heads, z.t, z.s}));
    }
    add(additive(by_head ? reshape(m, {z.n, z.heads, z.t, z.s}) : m, z.dtype));
  }
  if (const Array& m = masks.key_padding_mask; m.defined()) {
    if (m.shape() != Shape{z.n, z.s} && !(z.n == 1 && m.shape() == Shape{z.s})) {
      throw ShapeError("MultiheadAttention: key_padding_mask is " + to_string(m.aval()) +
                       ", it must be " + to_string(Shape{z.n, z.s}));
    }
    add(reshape(additive(m, z.dtype), {z.n, 1, 1, z.s}));
  }
  if (masks.is_causal && (total.defined() || z.extra > 0))
    add(additive(logical_not(tri(z.t, {.columns = z.s, .dtype = bool_})), z.dtype));
  if (!total.defined() || z.extra == 0) return total;
  Shape open = total.shape();
  open[open.rank() - 1] = z.extra;
  return concatenate({total, zeros(open, z.dtype)}, -1);
}

// The sizes of a layer.
struct Sizes {
  int64_t e, kdim, vdim, heads, kv_heads, d;
};

Sizes sizes_of(const MultiheadAttention& layer) {
  const auto last = [](const std::optional<Array>& w, int64_t otherwise) {
    return w ? w->shape(-1) : otherwise;
  };
  if (layer.in_proj_weight.rank() != 2) {
    throw ShapeError("MultiheadAttention: in_proj_weight must be f[e + 2 g, e], got " +
                     to_string(layer.in_proj_weight.aval()));
  }
  const int64_t e = layer.in_proj_weight.shape(1);
  const int64_t kv_heads = layer.num_kv_heads > 0 ? layer.num_kv_heads : layer.num_heads;
  if (layer.num_heads < 1 || e % layer.num_heads != 0 || layer.num_heads % kv_heads != 0) {
    throw ValueError("MultiheadAttention: num_heads is " + std::to_string(layer.num_heads) +
                     ", it must divide e, which is " + std::to_string(e) +
                     ", and be divisible by num_kv_heads, which is " +
                     std::to_string(layer.num_kv_heads));
  }
  return {e,        last(layer.k_proj_weight, e), last(layer.v_proj_weight, e), layer.num_heads,
          kv_heads, e / layer.num_heads};
}

// A third of the projections: which weight and bias, and for how many heads.
struct Projection {
  Array weight, bias;
  int64_t heads;
};

std::vector<Projection> projections_of(const MultiheadAttention& layer, const Sizes& z) {
  const int64_t g = z.kv_heads * z.d;
  const std::vector<int64_t> places = {z.e, z.e + g};
  std::vector<Array> weights, biases(3);
  if (layer.q_proj_weight && layer.k_proj_weight && layer.v_proj_weight)
    weights = {*layer.q_proj_weight, *layer.k_proj_weight, *layer.v_proj_weight};
  else
    weights = split(layer.in_proj_weight, places);
  if (layer.in_proj_bias) biases = split(*layer.in_proj_bias, places);
  return {{weights[0], biases[0], z.heads},
          {weights[1], biases[1], z.kv_heads},
          {weights[2], biases[2], z.kv_heads}};
}

// f[t, n, ...] (f[n, t, ...] with batch_first, f[t, ...] without n) -> f[n, heads, t, d].
Array by_heads(const Array& x, const Projection& p, int64_t d, bool time_first) {
  const Array y = linear(x, p.weight, p.bias);
  const Array batched = x.rank() == 2 ? expand_dims(y, 0) : time_first ? swapaxes(y, 0, 1) : y;
  return transpose(reshape(batched, {batched.shape(0), batched.shape(1), p.heads, d}),
                   {0, 2, 1, 3});
}

// f[n, heads, t, d] -> the layer's output, in the form of the query.
Array output_of(const MultiheadAttention& layer, const Array& attended, int rank) {
  const int64_t n = attended.shape(0), t = attended.shape(2);
  const int64_t e = attended.shape(1) * attended.shape(3);
  const Array y = layer.out_proj(reshape(transpose(attended, {0, 2, 1, 3}), {n, t, e}));
  return rank == 2 ? squeeze(y, 0) : layer.batch_first ? y : swapaxes(y, 0, 1);
}

// One more key or value at the end, for all of the batch: `row` f[1, 1, heads d], or zeros.
Array with_row(const Array& x, const std::optional<Array>& row) {
  const int64_t n = x.shape(0), heads = x.shape(1), d = x.shape(3);
  const Array one = row ? reshape(*row, {1, heads, 1, d}) : zeros({1, heads, 1, d}, x.dtype());
  return concatenate({x, broadcast_to(one, {n, heads, 1, d})}, 2);
}

void check_inputs(const MultiheadAttention& layer, const Sizes& z, const Array& query,
                  const Array& key, const Array& value) {
  const int rank = query.rank();
  const auto fits = [&](const Array& a, int64_t e) { return a.rank() == rank && a.shape(-1) == e; };
  if ((rank != 2 && rank != 3) || !fits(query, z.e) || !fits(key, z.kdim) || !fits(value, z.vdim)) {
    const std::string batched = layer.batch_first ? "f[n, t, " : "f[t, n, ";
    const auto list = [&](const std::string& begin) {
      return begin + std::to_string(z.e) + "], " + begin + std::to_string(z.kdim) + "] and " +
             begin + std::to_string(z.vdim) + "]";
    };
    throw ShapeError("MultiheadAttention: " + internal::types_text(query, key, value) + " must " +
                     (z.kdim == z.e && z.vdim == z.e
                          ? "all be " + batched + std::to_string(z.e) + "] or all f[t, " +
                                std::to_string(z.e) + "]"
                          : "be " + list(batched) + ", or " + list("f[t, ")));
  }
  const int batch_axis = layer.batch_first ? 0 : 1;
  const bool one_batch = rank == 2 || (query.shape(batch_axis) == key.shape(batch_axis) &&
                                       key.shape(batch_axis) == value.shape(batch_axis));
  const int time_axis = rank == 3 && layer.batch_first ? 1 : 0;
  if (!one_batch || key.shape(time_axis) != value.shape(time_axis)) {
    throw ShapeError("MultiheadAttention: " + internal::types_text(query, key, value) +
                     " do not fit: " + (rank == 3 ? "all must have one batch size, and " : "") +
                     "key and value one length");
  }
}

// The output of a call, and what it cost but for out_proj.
Array observed_output(const MultiheadAttention& layer, const Sizes& z, const Array& q,
                      const Array& k, const Array& attended, int rank) {
  return internal::observed(layer, kOp, output_of(layer, attended, rank), [&] {
    const int64_t n = q.shape(0), t = q.shape(2), s = k.shape(2), g = z.kv_heads * z.d;
    return n * (t * z.e * z.e + s * g * (z.kdim + z.vdim) + 2 * t * s * z.e);
  });
}

// The call; `weights`, where it is not null, takes those of each head, f[n, heads, t, s].
Array attend(const MultiheadAttention& layer, const Array& query, const Array& key,
             const Array& value, Context& ctx, const MultiheadMasks& masks, Array* weights) {
  spruce::internal::require_defined(kOp, "query", query, "key", key, "value", value,
                                    "in_proj_weight", layer.in_proj_weight);
  const Sizes z = sizes_of(layer);
  check_inputs(layer, z, query, key, value);
  const bool time_first = query.rank() == 3 && !layer.batch_first;
  const std::vector<Projection> parts = projections_of(layer, z);
  const Array q = by_heads(query, parts[0], z.d, time_first);
  Array k = by_heads(key, parts[1], z.d, time_first);
  Array v = by_heads(value, parts[2], z.d, time_first);
  Scores scores{q.shape(0), z.heads, q.shape(2), k.shape(2), 0, q.dtype()};
  if (layer.bias_k && layer.bias_v) {
    k = with_row(k, layer.bias_k), v = with_row(v, layer.bias_v);
    ++scores.extra;
  }
  if (layer.add_zero_attn) {
    k = with_row(k, {}), v = with_row(v, {});
    ++scores.extra;
  }
  AttentionOptions options{.attn_mask = joined_mask(masks, scores)};
  options.is_causal = masks.is_causal && !options.attn_mask.defined();
  options.enable_gqa = z.kv_heads != z.heads;
  if (ctx.training && layer.dropout != 0) {
    options.dropout_p = layer.dropout;
    options.dropout_key = ctx.next_key(kOp, layer);
  }
  if (weights == nullptr) {
    return observed_output(layer, z, q, k, scaled_dot_product_attention(q, k, v, options),
                           query.rank());
  }

  const int64_t times = z.heads / z.kv_heads;
  const Array keys = spruce::repeat(k, times, 1), values = spruce::repeat(v, times, 1);
  const double scale = 1 / std::sqrt(static_cast<double>(z.d));
  *weights = rules::attention_weights(matmul(q * scale, swapaxes(keys, -1, -2)), options.attn_mask,
                                      options.is_causal);
  if (options.dropout_p != 0)
    *weights = nn::dropout(*weights, {.p = options.dropout_p, .key = options.dropout_key});
  return observed_output(layer, z, q, k, matmul(*weights, values), query.rank());
}

}  // namespace

MultiheadAttention MultiheadAttention::init(const Key& given, int64_t e, int64_t num_heads,
                                            const MultiheadAttentionOptions& o, Loc loc) {
  const OpScope at("MultiheadAttention::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  check_shape("MultiheadAttention", {e});
  if (num_heads < 1 || e % num_heads != 0) {
    throw ValueError("MultiheadAttention: num_heads is " + std::to_string(num_heads) +
                     ", it must divide embed_dim, which is " + std::to_string(e));
  }
  if (o.num_kv_heads < 0 || (o.num_kv_heads > 0 && num_heads % o.num_kv_heads != 0)) {
    throw ValueError("MultiheadAttention: num_kv_heads is " + std::to_string(o.num_kv_heads) +
                     ", it must divide num_heads, which is " + std::to_string(num_heads));
  }
  if (o.kdim < 0 || o.vdim < 0) {
    throw ValueError("MultiheadAttention: kdim is " + std::to_string(o.kdim) + " and vdim " +
                     std::to_string(o.vdim) +
                     ", they must not be negative; 0 stands for embed_dim");
  }
  spruce::internal::check_range(kOp, "dropout", o.dropout, spruce::internal::Range::kShare);
  const int64_t kv_heads = o.num_kv_heads > 0 ? o.num_kv_heads : num_heads;
  const int64_t g = e / num_heads * kv_heads;
  const int64_t kdim = o.kdim > 0 ? o.kdim : e, vdim = o.vdim > 0 ? o.vdim : e;
  const auto [k_in, k_out] = random::split<2>(key);
  const auto weight = [&](const Key& from, const Shape& shape) {
    return init::internal::first_value(o.init.weight, from, shape, o.dtype,
                                       [&] { return init::glorot_uniform(from, shape, o.dtype); });
  };
  const auto bias = [&](int64_t which, int64_t size) {
    return init::internal::first_value(o.init.bias, random::fold_in(key, which), {size}, o.dtype,
                                       [&] { return zeros({size}, o.dtype); });
  };
  MultiheadAttention layer;
  if (kdim == e && vdim == e) {
    layer.in_proj_weight = weight(k_in, {e + 2 * g, e});
  } else {
    const auto [kq, kk, kv] = random::split<3>(k_in);
    layer.in_proj_weight = zeros({0, e}, o.dtype);
    layer.q_proj_weight = weight(kq, {e, e});
    layer.k_proj_weight = weight(kk, {g, kdim});
    layer.v_proj_weight = weight(kv, {g, vdim});
  }
  layer.out_proj = Linear::init(k_out, e, e, {.bias = false, .dtype = o.dtype, .init = o.init});
  if (o.bias) {
    layer.in_proj_bias = bias(2, e + 2 * g);
    layer.out_proj.bias = bias(3, e);
  }
  if (o.add_bias_kv) {
    layer.bias_k = init::glorot_normal(random::fold_in(k_in, 3), {1, 1, g}, o.dtype);
    layer.bias_v = init::glorot_normal(random::fold_in(k_in, 4), {1, 1, g}, o.dtype);
  }
  layer.num_heads = num_heads;
  layer.dropout = o.dropout;
  layer.batch_first = o.batch_first;
  layer.add_zero_attn = o.add_zero_attn;
  layer.num_kv_heads = o.num_kv_heads;
  return layer;
}

Array MultiheadAttention::operator()(const Array& query, const Array& key, const Array& value,
                                     const MultiheadMasks& masks, Loc loc) const {
  Context evaluation;
  return (*this)(query, key, value, evaluation, masks, loc);
}

Array MultiheadAttention::operator()(const Array& query, const Array& key, const Array& value,
                                     Context& ctx, const MultiheadMasks& masks, Loc loc) const {
  const OpScope at(kOp, loc);
  const spruce::internal::SameDevice here(query);
  return attend(*this, query, key, value, ctx, masks, nullptr);
}

MultiheadAttentionResult MultiheadAttention::with_weights(const Array& query, const Array& key,
                                                          const Array& value,
                                                          const MultiheadMasks& masks,
                                                          bool average_attn_weights,
                                                          Loc loc) const {
  Context evaluation;
  return with_weights(query, key, value, evaluation, masks, average_attn_weights, loc);
}

MultiheadAttentionResult MultiheadAttention::with_weights(const Array& query, const Array& key,
                                                          const Array& value, Context& ctx,
                                                          const MultiheadMasks& masks,
                                                          bool average_attn_weights,
                                                          Loc loc) const {
  const OpScope at(kOp, loc);
  const spruce::internal::SameDevice here(query);
  Array weights;
  const Array output = attend(*this, query, key, value, ctx, masks, &weights);
  if (average_attn_weights) weights = mean(weights, 1);
  return {output, query.rank() == 2 ? squeeze(weights, 0) : weights};
}

KeyValueCache MultiheadAttention::init_cache(int64_t batch, int64_t capacity, Loc loc) const {
  const char* op = "MultiheadAttention::init_cache";
  const OpScope at(op, loc);
  spruce::internal::require_defined(op, "in_proj_weight", in_proj_weight, "out_proj.weight",
                                    out_proj.weight);
  const Sizes z = sizes_of(*this);
  const spruce::internal::SameDevice here(out_proj.weight);
  const Array empty = zeros({batch, z.kv_heads, capacity, z.d}, out_proj.weight.dtype());
  return {empty, empty, zeros({}, int32)};
}

DecodeResult MultiheadAttention::decode(const Array& query, const KeyValueCache& cache,
                                        Loc loc) const {
  const char* op = "MultiheadAttention::decode";
  const OpScope at(op, loc);
  const spruce::internal::SameDevice here(query);
  spruce::internal::require_defined(op, "query", query, "in_proj_weight", in_proj_weight,
                                    "cache.key", cache.key, "cache.value", cache.value,
                                    "cache.length", cache.length);
  if (add_zero_attn || bias_k) {
    throw ValueError(std::string(op) +
                     ": takes no layer with bias_k or add_zero_attn, whose keys would have to stay "
                     "behind those of all steps");
  }
  const Sizes z = sizes_of(*this);
  if (query.rank() != 3 || query.shape(2) != z.e || z.kdim != z.e || z.vdim != z.e) {
    throw ShapeError(std::string(op) + ": takes self-attention of " +
                     (batch_first ? "f[n, t, " : "f[t, n, ") + std::to_string(z.e) +
                     "], got query " + to_string(query.aval()) + " for keys of size " +
                     std::to_string(z.kdim) + " and values of size " + std::to_string(z.vdim));
  }
  const int64_t n = query.shape(batch_first ? 0 : 1), t = query.shape(batch_first ? 1 : 0);
  const int64_t capacity = cache.key.rank() == 4 ? cache.key.shape(2) : 0;
  const Shape want{n, z.kv_heads, capacity, z.d};
  if (cache.key.shape() != want || cache.value.shape() != want || cache.length.rank() != 0) {
    throw ShapeError(std::string(op) + ": the cache, key " + to_string(cache.key.aval()) +
                     ", value " + to_string(cache.value.aval()) + " and length " +
                     to_string(cache.length.aval()) +
                     ", is not of this layer and batch: they must "
                     "be f" +
                     to_string(want) + " both and i[]; make it with init_cache(" +
                     std::to_string(n) + ", capacity)");
  }
  const auto room = static_cast<double>(capacity - t);
  if (t > capacity || !may_be_within(cache.length, 0, room)) {
    throw ValueError(std::string(op) + ": there is no room for " + std::to_string(t) +
                     " more steps in a cache for " + std::to_string(capacity) + " that holds " +
                     (has_known_values(cache.length) ? to_string(cache.length) : "some") +
                     "; make it longer with init_cache");
  }
  const std::vector<Projection> parts = projections_of(*this, z);
  const auto heads = [&](size_t part) { return by_heads(query, parts[part], z.d, !batch_first); };
  const Array length = astype(cache.length, int32);
  KeyValueCache next{dynamic_update_slice_in_dim(cache.key, heads(1), length, 2),
                     dynamic_update_slice_in_dim(cache.value, heads(2), length, 2), length + t};
  // Row i of the query is step length + i.
  const Array reached = less_equal(expand_dims(arange(capacity, int32), 0),
                                   expand_dims(length + arange(t, int32), 1));
  const Array attended = scaled_dot_product_attention(
      heads(0), next.key, next.value, {.attn_mask = reached, .enable_gqa = z.kv_heads != z.heads});
  Array y = output_of(*this, attended, 3);
  if (!has_known_values(cache.length)) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    y = where(less_equal(next.length, capacity), y, full({}, nan, y.dtype()));
  }
  return {y, next};
}

}  // namespace spruce::nn
