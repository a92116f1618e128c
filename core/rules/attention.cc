// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/attention.h"

#include <limits>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"

namespace spruce {

extern const Primitive softmax_p;

namespace rules {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Array softmax(const Array& x) { return bind1(softmax_p, {x}); }

// True for the rows of a mask that let nothing through: softmax would make NaN of them.
Array closed_rows(const Array& mask) {
  if (mask.dtype() == bool_) return logical_not(any(mask, -1, {.keepdims = true}));
  return max(mask, -1, {.keepdims = true}) == kMinusInfinity;
}

}  // namespace

Array attention_weights(const Array& scores, const Array& mask, bool causal) {
  if (causal) {
    const Array open = tri(scores.shape(-2), {.columns = scores.shape(-1), .dtype = bool_});
    return softmax(where(open, scores, Array(kMinusInfinity)));
  }
  if (!mask.defined()) return softmax(scores);
  const Array closed = closed_rows(mask);
  const Array masked = mask.dtype() == bool_ ? where(mask, scores, Array(kMinusInfinity))
                                             : scores + astype(mask, scores.dtype());
  const Array weights = softmax(where(closed, zeros_like(scores), masked));
  return where(closed, zeros_like(weights), weights);
}

}  // namespace rules
}  // namespace spruce
