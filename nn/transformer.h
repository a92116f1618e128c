// SPDX-License-Identifier: Apache-2.0
// Transformers (Vaswani et al. 2017): layers and stacks of encoders and decoders.
//
// Sequences are f[t, n, e], f[n, t, e] with batch_first, or f[t, e] without n. In masks true means:
// may not attend; floating ones are added to the scores.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "spruce/nn/attention.h"
#include "spruce/nn/norm.h"

namespace spruce::nn {

/// What stands between both linear layers of a feed-forward part.
enum class TransformerActivation : uint8_t {
  kRelu,      ///< relu
  kGelu,      ///< gelu, by the error function
  kGeluTanh,  ///< gelu, by its approximation with tanh
  kSilu       ///< silu
};

namespace internal {
/// What is printed of a layer's activation: see describe().
inline constexpr std::string_view kActivationRepr = "activation{relu,gelu,gelu_tanh,silu}";
}  // namespace internal

/// Options of the layers and stacks; names and defaults are PyTorch's.
struct TransformerLayerOptions {
  int64_t dim_feedforward = 2048;  ///< between both linear layers
  float dropout = 0.1f;            ///< of attention weights and of each part's result, in training
  TransformerActivation activation = TransformerActivation::kRelu;  ///< of the feed-forward part
  double layer_norm_eps = 1e-5;                                     ///< added to variances
  bool batch_first = false;   ///< f[n, t, e] in place of f[t, n, e]
  bool norm_first = false;    ///< norm in front of each part, not behind its residual sum
  bool bias = true;           ///< of linear layers, attention and norms
  Dtype dtype = float32;      ///< of the parameters
  Device* device = nullptr;   ///< where they are made; null: the default device
  int64_t num_kv_heads = 0;   ///< heads of key and value; 0: nhead
  init::LayerInit init = {};  ///< how linear layers and attention begin, if not as PyTorch's
};

/// Masks of an encoder. They are of the kinds of MultiheadMasks.
struct EncoderMasks {
  Array src_mask = {};              ///< [t, t] or [n * nhead, t, t]
  Array src_key_padding_mask = {};  ///< [n, t]
  bool is_causal = false;           ///< step i attends to steps 0 to i
};

/// Masks of a decoder.
struct DecoderMasks {
  Array tgt_mask = {};                 ///< of the self-attention, [t, t] or [n * nhead, t, t]
  Array memory_mask = {};              ///< of the attention to the memory, [t, s] or
                                       ///< [n * nhead, t, s]
  Array tgt_key_padding_mask = {};     ///< [n, t]
  Array memory_key_padding_mask = {};  ///< [n, s]
  bool tgt_is_causal = false;          ///< step i attends to steps 0 to i
  bool memory_is_causal = false;       ///< step i attends to steps 0 to i of the memory
};

/// Self-attention and a feed-forward part, each with a residual sum and a layer norm.
///
/// Parameters: of the layers inside, by PyTorch's names.
struct TransformerEncoderLayer {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = internal::kActivationRepr;

  MultiheadAttention self_attn;  ///< from e to e
  Linear linear1;                ///< from e to dim_feedforward
  Linear linear2;                ///< and back
  LayerNorm norm1;               ///< of the attention
  LayerNorm norm2;               ///< of the feed-forward part
  float dropout = 0.1f;          ///< of the results of all parts, in training
  TransformerActivation activation = TransformerActivation::kRelu;  ///< between linear1 and linear2
  bool norm_first = false;                                          ///< norm in front of each part

  /// The attention from the first of split(key, 3), linear1 from the second, linear2 from the
  /// third, as their defaults. Throws ValueError unless nhead divides d_model.
  static TransformerEncoderLayer init(const Key& key, int64_t d_model, int64_t nhead,
                                      const TransformerLayerOptions& options = {},
                                      Loc loc = Loc::current());

  /// Evaluation mode. Throws as MultiheadAttention.
  Array operator()(const Array& src, const EncoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  Array operator()(const Array& src, Context& ctx, const EncoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
};

/// Self-attention, attention to a memory and a feed-forward part, each with a residual sum and a
/// layer norm.
///
/// Parameters: of the layers inside, by PyTorch's names.
struct TransformerDecoderLayer {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = internal::kActivationRepr;

  MultiheadAttention self_attn;       ///< from e to e
  MultiheadAttention multihead_attn;  ///< to the memory
  Linear linear1;                     ///< from e to dim_feedforward
  Linear linear2;                     ///< and back
  LayerNorm norm1;                    ///< of the self-attention
  LayerNorm norm2;                    ///< of the attention to the memory
  LayerNorm norm3;                    ///< of the feed-forward part
  float dropout = 0.1f;               ///< of the results of all parts, in training
  TransformerActivation activation = TransformerActivation::kRelu;  ///< between linear1 and linear2
  bool norm_first = false;                                          ///< norm in front of each part

  /// self_attn, multihead_attn, linear1 and linear2, in this order, from split(key, 4). Throws
  /// ValueError unless nhead divides d_model.
  static TransformerDecoderLayer init(const Key& key, int64_t d_model, int64_t nhead,
                                      const TransformerLayerOptions& options = {},
                                      Loc loc = Loc::current());

  /// tgt f[t, n, e] and memory f[s, n, e] -> f[t, n, e], in evaluation mode. Throws as
  /// MultiheadAttention.
  Array operator()(const Array& tgt, const Array& memory, const DecoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  Array operator()(const Array& tgt, const Array& memory, Context& ctx,
                   const DecoderMasks& masks = {}, Loc loc = Loc::current()) const;
};

/// Encoder layers one after the other, and a norm at the end where there is one. PyTorch makes them
/// copies of one layer, with equal parameters; here each has its own key.
struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;  ///< in order
  std::optional<LayerNorm> norm = {};           ///< of the result

  /// Layer k from the k-th of split(key, num_layers), and no norm. Throws ValueError for fewer than
  /// one layer.
  static TransformerEncoder init(const Key& key, int64_t d_model, int64_t nhead, int64_t num_layers,
                                 const TransformerLayerOptions& options = {},
                                 Loc loc = Loc::current());

  /// Evaluation mode. Throws as MultiheadAttention.
  Array operator()(const Array& src, const EncoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  Array operator()(const Array& src, Context& ctx, const EncoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
};

/// Decoder layers one after the other, and a norm at the end where there is one.
struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;  ///< in order
  std::optional<LayerNorm> norm = {};           ///< of the result

  /// As TransformerEncoder::init.
  static TransformerDecoder init(const Key& key, int64_t d_model, int64_t nhead, int64_t num_layers,
                                 const TransformerLayerOptions& options = {},
                                 Loc loc = Loc::current());

  /// Evaluation mode. Throws as MultiheadAttention.
  Array operator()(const Array& tgt, const Array& memory, const DecoderMasks& masks = {},
                   Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  Array operator()(const Array& tgt, const Array& memory, Context& ctx,
                   const DecoderMasks& masks = {}, Loc loc = Loc::current()) const;
};

/// Options of Transformer: those of its layers and how many there are.
struct TransformerOptions {
  int64_t num_encoder_layers = 6;      ///< of the encoder
  int64_t num_decoder_layers = 6;      ///< of the decoder
  TransformerLayerOptions layer = {};  ///< of all layers
};

/// Masks of a Transformer.
struct TransformerMasks {
  Array src_mask = {};                 ///< [s, s] or [n * nhead, s, s]
  Array tgt_mask = {};                 ///< [t, t] or [n * nhead, t, t]
  Array memory_mask = {};              ///< [t, s] or [n * nhead, t, s]
  Array src_key_padding_mask = {};     ///< [n, s]
  Array tgt_key_padding_mask = {};     ///< [n, t]
  Array memory_key_padding_mask = {};  ///< [n, s]
  bool src_is_causal = false;          ///< step i of src attends to steps 0 to i
  bool tgt_is_causal = false;          ///< step i of tgt attends to steps 0 to i
  bool memory_is_causal = false;       ///< step i of tgt attends to steps 0 to i of the memory
};

/// An encoder and a decoder, each with a norm at the end.
struct Transformer {
  TransformerEncoder encoder;  ///< src -> memory
  TransformerDecoder decoder;  ///< tgt, memory -> result

  /// Encoder and decoder from split(key); then, as in PyTorch, all matrices uniform by Glorot, the
  /// k-th of them from fold_in(key, 2 + k), unless .layer.init has a weight. Throws ValueError for
  /// fewer than one layer and unless nhead divides d_model.
  static Transformer init(const Key& key, int64_t d_model = 512, int64_t nhead = 8,
                          const TransformerOptions& options = {}, Loc loc = Loc::current());

  /// src f[s, n, e] and tgt f[t, n, e] -> f[t, n, e], in evaluation mode. Throws as
  /// MultiheadAttention.
  Array operator()(const Array& src, const Array& tgt, const TransformerMasks& masks = {},
                   Loc loc = Loc::current()) const;
  /// In training the context gives the keys for dropout.
  Array operator()(const Array& src, const Array& tgt, Context& ctx,
                   const TransformerMasks& masks = {}, Loc loc = Loc::current()) const;

  /// f[size, size]: 0 where step i may attend to step j, j <= i, and minus infinity elsewhere.
  static Array generate_square_subsequent_mask(int64_t size, Dtype dtype = float32,
                                               Loc loc = Loc::current());
};

}  // namespace spruce::nn
