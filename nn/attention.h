// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention, and multi-head attention as a layer.
#pragma once

#include <optional>
#include <string_view>

#include "spruce/nn/linear.h"

namespace spruce::nn {

/// Options of scaled_dot_product_attention.
struct AttentionOptions {
  /// bool, true where a query may attend to a key; or floating, added to the scores. Broadcasts
  /// with f[..., t, s].
  Array attn_mask = {};
  bool is_causal = false;  ///< query i attends to keys 0 to i; takes no attn_mask beside it
  std::optional<double> scale = {};  ///< of the scores; 1 / sqrt(d) where it is left out
  float dropout_p = 0;               ///< probability that a weight becomes zero
  Key dropout_key = {};              ///< needed where dropout_p is not 0
  /// Whether key and value may have fewer heads, on the axis before the last two: head i of the
  /// query attends to head i / (heads of the query / heads of the key) (Ainslie et al. 2023).
  bool enable_gqa = false;
};

/// softmax(query key^T * scale) value (Vaswani et al. 2017). A query that may attend to no key
/// gives zeros, with zero gradients.
///
/// Shapes:  query f[..., t, d], key f[..., s, d], value f[..., s, e] -> f[..., t, e]; leading axes
///          broadcast.
/// Throws:  ShapeError, naming all three, where they do not fit; ValueError for attn_mask together
///          with is_causal, and for dropout_p outside of 0..1 or without a key; DtypeError for a
///          mask of integers. With enable_gqa ShapeError unless all have rank 3 or more, key and
///          value as many heads as each other, and these divide the heads of the query.
inline constexpr struct ScaledDotProductAttentionFunction {
  Array operator()(const Array& query, const Array& key, const Array& value,
                   const AttentionOptions& options = {}, Loc loc = Loc::current()) const;
} scaled_dot_product_attention{};

/// Options of MultiheadAttention.
struct MultiheadAttentionOptions {
  bool bias = true;            ///< whether there are in_proj_bias and out_proj.bias
  float dropout = 0;           ///< of the attention weights, in training
  bool batch_first = false;    ///< f[n, t, e] in place of f[t, n, e]
  Dtype dtype = float32;       ///< of the parameters
  Device* device = nullptr;    ///< where they are made; null: the default device
  int64_t kdim = 0;            ///< last size of the key; 0: embed_dim
  int64_t vdim = 0;            ///< last size of the value; 0: embed_dim
  bool add_bias_kv = false;    ///< whether there are bias_k and bias_v
  bool add_zero_attn = false;  ///< whether every query may also attend to a key and value of zeros
  int64_t num_kv_heads = 0;    ///< heads of key and value, which divides num_heads; 0: num_heads
  init::LayerInit init = {};   ///< how they begin, if not as PyTorch's
};

/// Masks of one call of MultiheadAttention. As in PyTorch's layer, true means: may not attend.
struct MultiheadMasks {
  Array key_padding_mask = {};  ///< bool or floating [n, s] ([s] for unbatched input)
  Array attn_mask = {};         ///< bool or floating [t, s] or [n * num_heads, t, s]
  bool is_causal = false;       ///< query i attends to keys 0 to i
};

/// The attention with its weights.
struct MultiheadAttentionResult {
  Array output;   ///< as the call alone gives it
  Array weights;  ///< f[n, t, s], or f[n, num_heads, t, s] where they are not averaged; without n
                  ///< for unbatched input; the keys of bias_k and of add_zero_attn come last
};

/// The projected keys and values of the steps so far: what decoding step by step keeps. Made by
/// MultiheadAttention::init_cache, and given on from call to call of decode.
struct KeyValueCache {
  Array key;     ///< f[n, heads, capacity, d]
  Array value;   ///< f[n, heads, capacity, d]
  Array length;  ///< i32[]: how many of the steps are there
};

/// What MultiheadAttention::decode gives.
struct DecodeResult {
  Array output;         ///< f[n, t, e], or f[t, n, e] as the query
  KeyValueCache cache;  ///< with the t steps of this call
};

/// Multi-head attention (Vaswani et al. 2017): query f[t, n, e], key f[s, n, kdim] and value
/// f[s, n, vdim] -> f[t, n, e], or without n; with batch_first n comes first.
///
/// Parameters: in_proj_weight f32[e + 2 g, e] (rows for query, key, value), where g = e, or
///             num_kv_heads * e / num_heads with fewer heads of key and value; in_proj_bias
///             f32[e + 2 g]; out_proj a Linear from e to e. Where kdim or vdim are not e,
///             in_proj_weight is f32[0, e] and q_proj_weight f32[e, e], k_proj_weight f32[g, kdim]
///             and v_proj_weight f32[g, vdim] stand for it.
/// State:      none.
struct MultiheadAttention {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr =
      "embed_dim=in_proj_weight.1 num_heads:num_heads bias?in_proj_bias";

  Array in_proj_weight;                     ///< f32[e + 2 g, e], or f32[0, e]
  std::optional<Array> in_proj_bias;        ///< f32[e + 2 g]
  Linear out_proj;                          ///< from e to e
  int64_t num_heads = 1;                    ///< divides e
  float dropout = 0;                        ///< of the attention weights, in training
  bool batch_first = false;                 ///< f[n, t, e] in place of f[t, n, e]
  std::optional<Array> q_proj_weight = {};  ///< f32[e, e], where kdim or vdim are not e
  std::optional<Array> k_proj_weight = {};  ///< f32[g, kdim], there too
  std::optional<Array> v_proj_weight = {};  ///< f32[g, vdim], there too
  std::optional<Array> bias_k = {};         ///< f32[1, 1, g]: one more key for all
  std::optional<Array> bias_v = {};         ///< f32[1, 1, g]: and its value
  bool add_zero_attn = false;               ///< as in MultiheadAttentionOptions
  int64_t num_kv_heads = 0;                 ///< heads of key and value; 0: num_heads

  /// in_proj_weight uniform by Glorot from the first of split(key), out_proj from the second,
  /// biases zero, as PyTorch's default; q, k and v_proj_weight, each by Glorot, from split(first,
  /// 3) and bias_k and bias_v, normal by Glorot, from fold_in(first, 3) and fold_in(first, 4).
  /// Throws ValueError unless num_heads divides embed_dim and num_kv_heads divides num_heads, for
  /// negative kdim and vdim, and for a dropout outside of 0..1.
  static MultiheadAttention init(const Key& key, int64_t embed_dim, int64_t num_heads,
                                 const MultiheadAttentionOptions& options = {},
                                 Loc loc = Loc::current());

  /// Evaluation mode. Throws ShapeError where arguments or masks do not fit, DtypeError for masks
  /// of integers.
  Array operator()(const Array& query, const Array& key, const Array& value,
                   const MultiheadMasks& masks = {}, Loc loc = Loc::current()) const;
  /// In training the context gives the key for dropout.
  Array operator()(const Array& query, const Array& key, const Array& value, Context& ctx,
                   const MultiheadMasks& masks = {}, Loc loc = Loc::current()) const;

  /// The attention weights too, PyTorch's need_weights: their mean over the heads, or each head's.
  MultiheadAttentionResult with_weights(const Array& query, const Array& key, const Array& value,
                                        const MultiheadMasks& masks = {},
                                        bool average_attn_weights = true,
                                        Loc loc = Loc::current()) const;
  /// In training the context gives the key for dropout; the weights are those after dropout.
  MultiheadAttentionResult with_weights(const Array& query, const Array& key, const Array& value,
                                        Context& ctx, const MultiheadMasks& masks = {},
                                        bool average_attn_weights = true,
                                        Loc loc = Loc::current()) const;

  /// An empty cache for `batch` sequences of up to `capacity` steps, in the dtype of the
  /// parameters. Throws ShapeError for negative sizes.
  KeyValueCache init_cache(int64_t batch, int64_t capacity, Loc loc = Loc::current()) const;
  /// Self-attention of the next t steps, f[n, t, e] (f[t, n, e] without batch_first), each to
  /// itself and to all steps before it, those in the cache included. The same as the rows of one
  /// causal call over all steps, in evaluation mode. Throws ShapeError where query or cache do not
  /// fit, ValueError where the cache is known to be too short for t more steps (where its length is
  /// not known, under jit, the output is NaN), and for layers with bias_k or add_zero_attn.
  DecodeResult decode(const Array& query, const KeyValueCache& cache,
                      Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
