// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/primitives/products/attention_forms.h"

#include <limits>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/ops/take.h"

namespace spruce {

extern const Primitive softmax_p;

namespace rules {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Array softmax(const Array& x) { return bind1(softmax_p, {x}); }

Array open_by_cause(const Array& scores) {
  return tri(scores.shape(-2), {.columns = scores.shape(-1), .dtype = bool_});
}

}  // namespace

Array closed_rows(const Array& mask) {
  if (mask.dtype() == bool_) return logical_not(any(mask, -1, {.keepdims = true}));
  return max(mask, -1, {.keepdims = true}) == kMinusInfinity;
}

Array masked_scores(const Array& scores, const Array& mask, bool causal) {
  if (causal) return where(open_by_cause(scores), scores, Array(kMinusInfinity));
  if (!mask.defined()) return scores;
  return mask.dtype() == bool_ ? where(mask, scores, Array(kMinusInfinity))
                               : scores + astype(mask, scores.dtype());
}

Array attention_weights(const Array& scores, const Array& mask, bool causal) {
  const Array masked = masked_scores(scores, mask, causal);
  if (causal || !mask.defined()) return softmax(masked);
  const Array closed = closed_rows(mask);
  const Array weights = softmax(where(closed, zeros_like(scores), masked));
  return where(closed, zeros_like(weights), weights);
}

AttentionParts::AttentionParts(std::span<const Array> in, size_t mask, const Params& params) {
  const auto& p = params.get<AttentionParams>();
  const Dtype dtype = attention_lse(in[0].aval()).dtype;
  query = astype(in[0], dtype) * p.scale;
  key = astype(in[1], dtype);
  value = astype(in[2], dtype);
  out = astype(in[3], dtype);
  const Array scores = masked_scores(matmul(query, swapaxes(key, -1, -2)),
                                     in.size() > mask ? in[mask] : Array(), p.causal);
  weights = exp(scores - expand_dims(astype(in[4], dtype), -1));
}

}  // namespace rules
}  // namespace spruce
