// SPDX-License-Identifier: Apache-2.0
// Multi-head attention as a function of its weights.
#pragma once

#include "spruce/nn/attention.h"

namespace spruce::nn {

/// Options of multi_head_attention_forward; names and defaults are PyTorch's.
struct MultiHeadAttentionForwardOptions {
  Array in_proj_bias = {};           ///< f[e + 2 g]
  Array bias_k = {};                 ///< f[1, 1, g]: one more key for all
  Array bias_v = {};                 ///< f[1, 1, g]: and its value
  bool add_zero_attn = false;        ///< as in MultiheadAttentionOptions
  float dropout_p = 0;               ///< of the attention weights, in training
  Array out_proj_bias = {};          ///< f[e]
  bool training = true;              ///< whether there is dropout
  Array key_padding_mask = {};       ///< as in MultiheadMasks
  bool need_weights = true;          ///< whether the result has weights
  Array attn_mask = {};              ///< as in MultiheadMasks
  Array q_proj_weight = {};          ///< f[e, e], with the next two in place of in_proj_weight
  Array k_proj_weight = {};          ///< f[g, kdim]
  Array v_proj_weight = {};          ///< f[g, vdim]
  bool average_attn_weights = true;  ///< the mean of the weights over the heads, or each head's
  bool is_causal = false;            ///< query i attends to keys 0 to i
  Key key = {};                      ///< of the dropout
};

/// What MultiheadAttention does, with its weights as arguments: query f[t, n, e], key f[s, n, kdim]
/// and value f[s, n, vdim], or without n. in_proj_weight f[3 e, e], undefined where q, k and
/// v_proj_weight are given; out_proj_weight f[e, e]. The weights of the result are undefined
/// without need_weights. PyTorch's static_k and static_v are not there: project them yourself and
/// call scaled_dot_product_attention.
///
/// Throws ShapeError and DtypeError as MultiheadAttention, ValueError unless num_heads divides e,
/// without a key for dropout in training, and for weights that are missing.
inline constexpr struct MultiHeadAttentionForwardFunction {
  MultiheadAttentionResult operator()(const Array& query, const Array& key, const Array& value,
                                      int64_t num_heads, const Array& in_proj_weight,
                                      const Array& out_proj_weight,
                                      const MultiHeadAttentionForwardOptions& options = {},
                                      Loc loc = Loc::current()) const;
} multi_head_attention_forward{};

}  // namespace spruce::nn
