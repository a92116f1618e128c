// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/transformer.h"

#include <limits>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ranges.h"
#include "spruce/nn/activations.h"
#include "spruce/nn/dropout.h"
#include "spruce/nn/init.h"
#include "spruce/nn/init_place.h"
#include "spruce/nn/observe.h"

namespace spruce::nn {
namespace {

using internal::dropped;

Array activated(TransformerActivation activation, const Array& x) {
  switch (activation) {
    case TransformerActivation::kRelu:
      return relu(x);
    case TransformerActivation::kGelu:
      return gelu(x);
    case TransformerActivation::kGeluTanh:
      return gelu(x, {.approximate = GeluApproximation::kTanh});
    case TransformerActivation::kSilu:
      return silu(x);
  }
  return x;
}

template <class Layer>
Array feed_forward(const Layer& layer, const Array& x, Context& ctx, const char* op) {
  const Array inner = activated(layer.activation, layer.linear1(x));
  const Array kept = dropped(inner, layer.dropout, ctx, op, layer);
  return dropped(layer.linear2(kept), layer.dropout, ctx, op, layer);
}

// One part with its residual sum and its norm.
template <class Part>
Array with_residual(const Array& x, const LayerNorm& norm, bool norm_first, const Part& part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

MultiheadAttention attention_of(const Key& key, int64_t d_model, int64_t nhead,
                                const TransformerLayerOptions& o) {
  return MultiheadAttention::init(key, d_model, nhead,
                                  {.bias = o.bias,
                                   .dropout = o.dropout,
                                   .batch_first = o.batch_first,
                                   .dtype = o.dtype,
                                   .num_kv_heads = o.num_kv_heads,
                                   .init = o.init});
}

LayerNorm norm_of(int64_t d_model, const TransformerLayerOptions& o) {
  LayerNorm norm = LayerNorm::init({d_model}, {.eps = o.layer_norm_eps, .dtype = o.dtype});
  if (!o.bias) norm.bias.reset();
  return norm;
}

// What encoder and decoder layers share. `k1` and `k2` are for both linear layers.
template <class Layer>
void init_feed_forward(Layer& layer, const Key& k1, const Key& k2, int64_t d_model,
                       const TransformerLayerOptions& o) {
  const LinearOptions linear{.bias = o.bias, .dtype = o.dtype, .init = o.init};
  layer.linear1 = Linear::init(k1, d_model, o.dim_feedforward, linear);
  layer.linear2 = Linear::init(k2, o.dim_feedforward, d_model, linear);
  layer.norm1 = layer.norm2 = norm_of(d_model, o);
  layer.dropout = o.dropout;
  layer.activation = o.activation;
  layer.norm_first = o.norm_first;
}

template <class Stack>
Stack init_stack(const char* op, const Key& key, int64_t d_model, int64_t nhead, int64_t num_layers,
                 const TransformerLayerOptions& o) {
  if (num_layers < 1) {
    throw ValueError(std::string(op) + ": num_layers is " + std::to_string(num_layers) +
                     ", there must be at least one");
  }
  using Layer = typename decltype(Stack::layers)::value_type;
  const Key keys = random::split(key, num_layers);
  Stack stack;
  for (int64_t k = 0; k < num_layers; ++k)
    stack.layers.push_back(Layer::init(keys[k], d_model, nhead, o));
  return stack;
}

template <class Stack>
Array last_norm(const Stack& stack, const Array& x) {
  return stack.norm ? (*stack.norm)(x) : x;
}

}  // namespace

TransformerEncoderLayer TransformerEncoderLayer::init(const Key& given, int64_t d_model,
                                                      int64_t nhead,
                                                      const TransformerLayerOptions& o, Loc loc) {
  const OpScope at("TransformerEncoderLayer::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  const auto [k_attn, k1, k2] = random::split<3>(key);
  TransformerEncoderLayer layer;
  layer.self_attn = attention_of(k_attn, d_model, nhead, o);
  init_feed_forward(layer, k1, k2, d_model, o);
  return layer;
}

Array TransformerEncoderLayer::operator()(const Array& src, const EncoderMasks& masks,
                                          Loc loc) const {
  Context evaluation;
  return (*this)(src, evaluation, masks, loc);
}

Array TransformerEncoderLayer::operator()(const Array& src, Context& ctx, const EncoderMasks& masks,
                                          Loc loc) const {
  const char* op = "TransformerEncoderLayer";
  const OpScope at(op, loc);
  const internal::ObjectScope inside(ctx, *this);
  const MultiheadMasks own{masks.src_key_padding_mask, masks.src_mask, masks.is_causal};
  const Array x = with_residual(src, norm1, norm_first, [&](const Array& y) {
    return dropped(self_attn(y, y, y, ctx, own), dropout, ctx, op, *this);
  });
  return internal::observed(*this, op, with_residual(x, norm2, norm_first, [&](const Array& y) {
    return feed_forward(*this, y, ctx, op);
  }));
}

TransformerDecoderLayer TransformerDecoderLayer::init(const Key& given, int64_t d_model,
                                                      int64_t nhead,
                                                      const TransformerLayerOptions& o, Loc loc) {
  const OpScope at("TransformerDecoderLayer::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  const auto [k_self, k_memory, k1, k2] = random::split<4>(key);
  TransformerDecoderLayer layer;
  layer.self_attn = attention_of(k_self, d_model, nhead, o);
  layer.multihead_attn = attention_of(k_memory, d_model, nhead, o);
  init_feed_forward(layer, k1, k2, d_model, o);
  layer.norm3 = layer.norm1;
  return layer;
}

Array TransformerDecoderLayer::operator()(const Array& tgt, const Array& memory,
                                          const DecoderMasks& masks, Loc loc) const {
  Context evaluation;
  return (*this)(tgt, memory, evaluation, masks, loc);
}

Array TransformerDecoderLayer::operator()(const Array& tgt, const Array& memory, Context& ctx,
                                          const DecoderMasks& masks, Loc loc) const {
  const char* op = "TransformerDecoderLayer";
  const OpScope at(op, loc);
  const internal::ObjectScope inside(ctx, *this);
  const MultiheadMasks own{masks.tgt_key_padding_mask, masks.tgt_mask, masks.tgt_is_causal};
  const MultiheadMasks other{masks.memory_key_padding_mask, masks.memory_mask,
                             masks.memory_is_causal};
  Array x = with_residual(tgt, norm1, norm_first, [&](const Array& y) {
    return dropped(self_attn(y, y, y, ctx, own), dropout, ctx, op, *this);
  });
  x = with_residual(x, norm2, norm_first, [&](const Array& y) {
    return dropped(multihead_attn(y, memory, memory, ctx, other), dropout, ctx, op, *this);
  });
  return internal::observed(*this, op, with_residual(x, norm3, norm_first, [&](const Array& y) {
    return feed_forward(*this, y, ctx, op);
  }));
}

TransformerEncoder TransformerEncoder::init(const Key& given, int64_t d_model, int64_t nhead,
                                            int64_t num_layers, const TransformerLayerOptions& o,
                                            Loc loc) {
  const OpScope at("TransformerEncoder::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_stack<TransformerEncoder>("TransformerEncoder::init", key, d_model, nhead, num_layers,
                                        o);
}

Array TransformerEncoder::operator()(const Array& src, const EncoderMasks& masks, Loc loc) const {
  Context evaluation;
  return (*this)(src, evaluation, masks, loc);
}

Array TransformerEncoder::operator()(const Array& src, Context& ctx, const EncoderMasks& masks,
                                     Loc loc) const {
  const OpScope at("TransformerEncoder", loc);
  const internal::ObjectScope inside(ctx, *this);
  Array x = src;
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, ctx, masks);
  return last_norm(*this, x);
}

TransformerDecoder TransformerDecoder::init(const Key& given, int64_t d_model, int64_t nhead,
                                            int64_t num_layers, const TransformerLayerOptions& o,
                                            Loc loc) {
  const OpScope at("TransformerDecoder::init", loc);
  const internal::InitPlace place(o.device, given);
  const Key& key = place.key();
  return init_stack<TransformerDecoder>("TransformerDecoder::init", key, d_model, nhead, num_layers,
                                        o);
}

Array TransformerDecoder::operator()(const Array& tgt, const Array& memory,
                                     const DecoderMasks& masks, Loc loc) const {
  Context evaluation;
  return (*this)(tgt, memory, evaluation, masks, loc);
}

Array TransformerDecoder::operator()(const Array& tgt, const Array& memory, Context& ctx,
                                     const DecoderMasks& masks, Loc loc) const {
  const OpScope at("TransformerDecoder", loc);
  const internal::ObjectScope inside(ctx, *this);
  Array x = tgt;
  for (const TransformerDecoderLayer& layer : layers) x = layer(x, memory, ctx, masks);
  return last_norm(*this, x);
}

Transformer Transformer::init(const Key& given, int64_t d_model, int64_t nhead,
                              const TransformerOptions& o, Loc loc) {
  const OpScope at("Transformer::init", loc);
  const internal::InitPlace place(o.layer.device, given);
  const Key& key = place.key();
  const auto [k_encoder, k_decoder] = random::split<2>(key);
  Transformer model;
  model.encoder =
      TransformerEncoder::init(k_encoder, d_model, nhead, o.num_encoder_layers, o.layer);
  model.decoder =
      TransformerDecoder::init(k_decoder, d_model, nhead, o.num_decoder_layers, o.layer);
  model.encoder.norm = model.decoder.norm = norm_of(d_model, o.layer);
  if (o.layer.init.weight) return model;
  int64_t matrices = 0;
  const auto again = [&](Array& a) {
    a = init::glorot_uniform(random::fold_in(key, 2 + matrices++), a.shape(), a.dtype());
  };
  const auto attention = [&](MultiheadAttention& a) {
    again(a.in_proj_weight);
    again(a.out_proj.weight);
  };
  for (TransformerEncoderLayer& l : model.encoder.layers) {
    attention(l.self_attn);
    again(l.linear1.weight);
    again(l.linear2.weight);
  }
  for (TransformerDecoderLayer& l : model.decoder.layers) {
    attention(l.self_attn);
    attention(l.multihead_attn);
    again(l.linear1.weight);
    again(l.linear2.weight);
  }
  return model;
}

Array Transformer::operator()(const Array& src, const Array& tgt, const TransformerMasks& masks,
                              Loc loc) const {
  Context evaluation;
  return (*this)(src, tgt, evaluation, masks, loc);
}

Array Transformer::operator()(const Array& src, const Array& tgt, Context& ctx,
                              const TransformerMasks& m, Loc loc) const {
  const OpScope at("Transformer", loc);
  const internal::ObjectScope inside(ctx, *this);
  const Array memory = encoder(src, ctx, {m.src_mask, m.src_key_padding_mask, m.src_is_causal});
  return decoder(tgt, memory, ctx,
                 {m.tgt_mask, m.memory_mask, m.tgt_key_padding_mask, m.memory_key_padding_mask,
                  m.tgt_is_causal, m.memory_is_causal});
}

Array Transformer::generate_square_subsequent_mask(int64_t size, Dtype dtype, Loc loc) {
  const OpScope at("Transformer::generate_square_subsequent_mask", loc);
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  return where(tri(size, {.dtype = bool_}), zeros({}, dtype), full({}, minus_infinity, dtype));
}

}  // namespace spruce::nn
