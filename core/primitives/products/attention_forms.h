// SPDX-License-Identifier: Apache-2.0
// Attention by other operations: what its primitives mean, and what their derivatives begin with.
#pragma once

#include "spruce/core/rules/attention.h"

namespace spruce::rules {

/// softmax over the last axis of scores f[..., t, s] where the mask of `attention_p`, undefined for
/// none, lets a query attend to a key; rows of zeros for those that may attend to none.
Array attention_weights(const Array& scores, const Array& mask, bool causal);

/// Scores f[..., t, s] with -inf where a query may not attend to a key.
Array masked_scores(const Array& scores, const Array& mask, bool causal);

/// True for the rows of a mask that let nothing through, [..., t or 1, 1].
Array closed_rows(const Array& mask);

/// What the slow forms of derivatives begin with, in f32 or f64.
struct AttentionParts {
  /// `in` begins with query, key, value and both outputs of attention_lse_p.
  AttentionParts(std::span<const Array> in, size_t mask, const Params& params);

  Array query;    ///< times the scale
  Array key;      ///< f[..., s, d]
  Array value;    ///< f[..., s, e]
  Array out;      ///< f[..., t, e]: the result
  Array weights;  ///< f[..., t, s]
};

}  // namespace spruce::rules
