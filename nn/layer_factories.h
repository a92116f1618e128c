// SPDX-License-Identifier: Apache-2.0
// Factories of layers, of those that have none beside them: the name of the layer with _layer
// behind it, sizes of the input taken from the example, options those of the layer.
#pragma once

#include "spruce/nn/adaptive_softmax.h"
#include "spruce/nn/attention.h"
#include "spruce/nn/bilinear.h"
#include "spruce/nn/combinators.h"
#include "spruce/nn/conv_transpose.h"
#include "spruce/nn/embedding_bag.h"
#include "spruce/nn/group_norm.h"
#include "spruce/nn/linear.h"
#include "spruce/nn/lora.h"
#include "spruce/nn/position.h"
#include "spruce/nn/prelu.h"
#include "spruce/nn/rnn.h"
#include "spruce/nn/spatial_axes.h"
#include "spruce/nn/transformer.h"

namespace spruce::nn {

/// dense() under the name of its layer.
inline auto linear_layer(int64_t out, LinearOptions options = {}) { return dense(out, options); }

/// A factory of Bilinear layers of two inputs, f[..., in1] and f[..., in2].
inline auto bilinear_layer(int64_t out, LinearOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x1, const Array& x2) {
    return Bilinear::init(key, x1.shape(-1), x2.shape(-1), out, options);
  });
}

/// A factory of ConvTranspose3d layers; the number of input channels is that of the example
/// f[n, in, d, h, w].
inline auto conv_transpose3d_layer(int64_t out, WindowArg kernel,
                                   ConvTransposeLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return ConvTranspose3d::init(key, internal::channels_of("ConvTranspose3d", 3, x), out, kernel,
                                 options);
  });
}

/// A factory of EmbeddingBag layers.
inline auto embedding_bag_layer(int64_t num_embeddings, int64_t embedding_dim,
                                EmbeddingBagLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array&, const auto&...) {
    return EmbeddingBag::init(key, num_embeddings, embedding_dim, options);
  });
}

/// A factory of InstanceNorm1d layers over axis -2 of the example f[n, c, d] or f[c, d].
inline auto instance_norm1d_layer(InstanceNormLayerOptions options = {}) {
  return LayerFactory([=](const Key&, const Array& x) {
    return InstanceNorm1d::init(internal::channels_of("InstanceNorm1d", 1, x), options);
  });
}
/// The same over axis -3 of f[n, c, h, w] or f[c, h, w].
inline auto instance_norm2d_layer(InstanceNormLayerOptions options = {}) {
  return LayerFactory([=](const Key&, const Array& x) {
    return InstanceNorm2d::init(internal::channels_of("InstanceNorm2d", 2, x), options);
  });
}
/// The same over axis -4 of f[n, c, d, h, w] or f[c, d, h, w].
inline auto instance_norm3d_layer(InstanceNormLayerOptions options = {}) {
  return LayerFactory([=](const Key&, const Array& x) {
    return InstanceNorm3d::init(internal::channels_of("InstanceNorm3d", 3, x), options);
  });
}

/// A factory of PReLU layers.
inline auto prelu_layer(int64_t num_parameters = 1, PReluOptions options = {}) {
  return LayerFactory(
      [=](const Key&, const Array&) { return PReLU::init(num_parameters, options); });
}

/// A factory of recurrent layers R (LSTM and the like), of the options O of R::init: x f[t, n, in],
/// and whatever the layer takes behind it.
template <class R, class O>
auto recurrent_layer(int64_t hidden_size, O options) {
  return LayerFactory([=](const Key& key, const Array& x, const auto&...) {
    return R::init(key, x.shape(-1), hidden_size, options);
  });
}
/// A factory of LSTM layers.
inline auto lstm_layer(int64_t hidden_size, LSTMOptions options = {}) {
  return recurrent_layer<LSTM>(hidden_size, options);
}

/// A factory of RNN layers.
inline auto rnn_layer(int64_t hidden_size, RNNOptions options = {}) {
  return recurrent_layer<RNN>(hidden_size, options);
}
/// A factory of GRU layers.
inline auto gru_layer(int64_t hidden_size, GRUOptions options = {}) {
  return recurrent_layer<GRU>(hidden_size, options);
}
/// A factory of RNNCell layers: x f[..., in], and h where there is one.
inline auto rnn_cell_layer(int64_t hidden_size, RNNCellOptions options = {}) {
  return recurrent_layer<RNNCell>(hidden_size, options);
}
/// A factory of LSTMCell layers: x f[..., in], and an LSTMState where there is one.
inline auto lstm_cell_layer(int64_t hidden_size, LSTMCellOptions options = {}) {
  return recurrent_layer<LSTMCell>(hidden_size, options);
}
/// A factory of GRUCell layers: x f[..., in], and h where there is one.
inline auto gru_cell_layer(int64_t hidden_size, GRUCellOptions options = {}) {
  return recurrent_layer<GRUCell>(hidden_size, options);
}

/// A factory of TransformerEncoderLayer layers; the width is that of the example.
inline auto transformer_encoder_layer(int64_t nhead, TransformerLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& src, const auto&...) {
    return TransformerEncoderLayer::init(key, src.shape(-1), nhead, options);
  });
}
/// A factory of TransformerDecoderLayer layers of a target and a memory.
inline auto transformer_decoder_layer(int64_t nhead, TransformerLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& tgt, const auto&...) {
    return TransformerDecoderLayer::init(key, tgt.shape(-1), nhead, options);
  });
}
/// A factory of TransformerEncoder stacks.
inline auto transformer_encoder(int64_t nhead, int64_t num_layers,
                                TransformerLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& src, const auto&...) {
    return TransformerEncoder::init(key, src.shape(-1), nhead, num_layers, options);
  });
}
/// A factory of TransformerDecoder stacks.
inline auto transformer_decoder(int64_t nhead, int64_t num_layers,
                                TransformerLayerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& tgt, const auto&...) {
    return TransformerDecoder::init(key, tgt.shape(-1), nhead, num_layers, options);
  });
}
/// A factory of Transformer layers of a source and a target.
inline auto transformer_layer(int64_t nhead = 8, TransformerOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& src, const auto&...) {
    return Transformer::init(key, src.shape(-1), nhead, options);
  });
}

/// A factory of LearnedPositions layers for sequences of up to max_length steps.
inline auto learned_positions_layer(int64_t max_length, LearnedPositionsOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    return LearnedPositions::init(key, max_length, x.shape(-1), options);
  });
}
/// A factory of LoRA layers around new Linear layers with `out` outputs: the base from the first of
/// split(key), the change from the second.
inline auto lora_layer(int64_t out, LoRAOptions options = {}, LinearOptions base = {}) {
  return LayerFactory([=](const Key& key, const Array& x) {
    const auto [k_base, k_change] = random::split<2>(key);
    return LoRA::init(k_change, Linear::init(k_base, x.shape(-1), out, base), options);
  });
}
/// A factory of AdaptiveLogSoftmaxWithLoss layers of an input and a target.
inline auto adaptive_log_softmax_with_loss_layer(int64_t n_classes, std::vector<int64_t> cutoffs,
                                                 AdaptiveSoftmaxOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& x, const auto&...) {
    return AdaptiveLogSoftmaxWithLoss::init(key, x.shape(-1), n_classes, cutoffs, options);
  });
}

/// A factory of MultiheadAttention layers of query, key and value; the width is that of the query.
inline auto multihead_attention_layer(int64_t num_heads, MultiheadAttentionOptions options = {}) {
  return LayerFactory([=](const Key& key, const Array& query, const auto&...) {
    return MultiheadAttention::init(key, query.shape(-1), num_heads, options);
  });
}

}  // namespace spruce::nn
