// SPDX-License-Identifier: Apache-2.0
// Attention, and of each query log(sum(exp(scores))), from which derivatives make the weights again
// (Dao et al. 2022).
#include <limits>

#include "spruce/core/cpu/attention/attention_kernel.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/logic.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/attention.h"

namespace spruce {
namespace {

std::vector<Aval> attention_lse_shapes(const ShapeArgs& a) {
  return {rules::attention_result(a, 3), rules::attention_lse(*a.in[0])};
}

std::vector<Array> attention_lse_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<AttentionParams>();
  const Dtype dtype = rules::attention_lse(in[0].aval()).dtype;
  const Array q = astype(in[0], dtype) * p.scale, k = astype(in[1], dtype),
              v = astype(in[2], dtype), mask = in.size() > 3 ? in[3] : Array();
  Array scores = matmul(q, swapaxes(k, -1, -2));
  const Array out =
      astype(matmul(rules::attention_weights(scores, mask, p.causal), v), in[0].dtype());
  const Array infinite = full({}, std::numeric_limits<double>::infinity(), dtype);
  if (scores.shape(-1) == 0)
    return {out, broadcast_to(infinite, rules::attention_lse(in[0].aval()).shape)};
  scores = rules::masked_scores(scores, mask, p.causal);
  if (!mask.defined()) return {out, logsumexp(scores, -1)};
  const Array closed = rules::closed_rows(mask);
  const Array lse = logsumexp(where(closed, zeros_like(scores), scores), -1, {.keepdims = true});
  return {out, squeeze(where(closed, infinite, lse), -1)};
}

bool attention_lse_takes_strides(const StridesArgs& a) {
  return !(a.output && a.index == 1) && rules::attention_takes_strides(a);
}

double attention_lse_flops(const PrepareArgs& a) { return attention_p.flops(a); }

std::vector<Sample> attention_lse_samples() {
  // The second output does not have the dtype of narrow inputs.
  std::vector<Sample> out;
  for (const Dtype dtype : {Dtype::kFloat64, Dtype::kFloat32, Dtype::kBfloat16}) {
    for (Sample s : rules::attention_samples()) {
      for (SampleInput& in : s.in) in.aval.dtype = dtype;
      s.fixed_dtypes = true;
      out.push_back(s);
    }
  }
  return out;
}

}  // namespace

extern constinit const Primitive attention_lse_p = {
    .name = "attention_lse",
    .shapes = attention_lse_shapes,
    .cpu = cpu::attention_kernel,
    .batch = rules::batch_attention<3>,
    .samples = attention_lse_samples,
    .params = kParamsOf<AttentionParams>,
    .expand = attention_lse_expand,
    .prepare = cpu::prepare_attention,
    .takes_strides = attention_lse_takes_strides,
    .flops = attention_lse_flops,
};

}  // namespace spruce
