// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention, and multi-head attention as a layer.
#pragma once

#include <optional>

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
};

/// softmax(query key^T * scale) value (Vaswani et al. 2017). A query that may attend to no key
/// gives zeros, with zero gradients.
///
/// Shapes:  query f[..., t, d], key f[..., s, d], value f[..., s, e] -> f[..., t, e]; leading axes
///          broadcast.
/// Throws:  ShapeError, naming all three, where they do not fit; ValueError for attn_mask together
///          with is_causal, and for dropout_p outside of 0..1 or without a key; DtypeError for a
///          mask of integers.
inline constexpr struct ScaledDotProductAttentionFunction {
  Array operator()(const Array& query, const Array& key, const Array& value,
                   const AttentionOptions& options = {}, Loc loc = Loc::current()) const;
} scaled_dot_product_attention{};

/// Options of MultiheadAttention.
struct MultiheadAttentionOptions {
  bool bias = true;          ///< whether there are in_proj_bias and out_proj.bias
  float dropout = 0;         ///< of the attention weights, in training
  bool batch_first = false;  ///< f[n, t, e] in place of f[t, n, e]
  Dtype dtype = float32;     ///< of the parameters
};

/// Masks of one call of MultiheadAttention. As in PyTorch's layer, true means: may not attend.
struct MultiheadMasks {
  Array key_padding_mask = {};  ///< bool or floating [n, s] ([s] for unbatched input)
  Array attn_mask = {};         ///< bool or floating [t, s] or [n * num_heads, t, s]
  bool is_causal = false;       ///< query i attends to keys 0 to i
};

/// Multi-head attention: query f[t, n, e], key and value f[s, n, e] -> f[t, n, e], or without n;
/// with batch_first n comes first.
///
/// Parameters: in_proj_weight f32[3 e, e] (rows for query, key, value), in_proj_bias f32[3 e],
///             out_proj a Linear from e to e.
/// State:      none.
struct MultiheadAttention {
  Array in_proj_weight;               ///< f32[3 e, e]
  std::optional<Array> in_proj_bias;  ///< f32[3 e]
  Linear out_proj;                    ///< from e to e
  int64_t num_heads = 1;              ///< divides e
  float dropout = 0;                  ///< of the attention weights, in training
  bool batch_first = false;           ///< f[n, t, e] in place of f[t, n, e]

  /// in_proj_weight uniform by Glorot from the first of split(key), out_proj from the second,
  /// biases zero, as PyTorch's default. Throws ValueError unless num_heads divides embed_dim, and
  /// for a dropout outside of 0..1.
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
};

}  // namespace spruce::nn
