// SPDX-License-Identifier: Apache-2.0
// The attention primitive: softmax(scale query key^T) value.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

struct AttentionParams {
  double scale;
  bool causal;  ///< query i attends to keys 0 to i
};

/// Inputs: query f[..., t, d], key f[..., s, d], value f[..., s, e] with equal leading axes and
/// perhaps, unless causal, a mask that broadcasts to [..., t, s]: bool, true where a query may
/// attend to a key, or of the query's dtype, added to the scores. A query that a mask lets attend
/// to no key gives zeros.
extern const Primitive attention_p;

namespace rules {

/// softmax over the last axis of scores f[..., t, s] where the mask of `attention_p`, undefined for
/// none, lets a query attend to a key; rows of zeros for those that may attend to none.
Array attention_weights(const Array& scores, const Array& mask, bool causal);

}  // namespace rules

}  // namespace spruce
