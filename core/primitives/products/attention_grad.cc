// SPDX-License-Identifier: Apache-2.0
// The cotangents of attention's query, key and value (Dao et al. 2022).
#include "spruce/core/cpu/attention/attention_kernel.h"
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/attention.h"

namespace spruce {
namespace {

constexpr size_t kMask = 6;

std::vector<Aval> attention_grad_shapes(const ShapeArgs& a) {
  const Aval out = rules::attention_result(a, kMask);
  rules::check_attention_residuals(a, out);
  rules::check_attention_input(a, 5, "cotangent", out);
  std::vector<Aval> cts;
  for (size_t i = 0; i < 3; ++i) cts.push_back({out.dtype, false, a.in[i]->shape});
  return cts;
}

std::vector<Array> attention_grad_expand(std::span<const Array> in, const Params& params) {
  const rules::AttentionParts parts(in, kMask, params);
  const Array ct = astype(in[5], parts.weights.dtype());
  const Array scores = parts.weights * (matmul(ct, swapaxes(parts.value, -1, -2)) -
                                        sum(parts.out * ct, -1, {.keepdims = true}));
  const Array dq = matmul(scores, parts.key) * params.get<AttentionParams>().scale,
              dk = matmul(swapaxes(scores, -1, -2), parts.query),
              dv = matmul(swapaxes(parts.weights, -1, -2), ct);
  const Dtype dtype = in[0].dtype();
  return {astype(dq, dtype), astype(dk, dtype), astype(dv, dtype)};
}

bool attention_grad_takes_strides(const StridesArgs& a) {
  return (a.output || a.index != 4) && rules::attention_takes_strides(a);
}

double attention_grad_flops(const PrepareArgs& a) {
  return rules::attention_grad_flops(a.in[0]->shape, a.in[2]->shape);
}

std::vector<Sample> attention_grad_samples() {
  return rules::attention_residual_samples(
      [](std::vector<Shape>& shapes) { shapes.push_back(shapes[3]); });
}

}  // namespace

extern constinit const Primitive attention_grad_p = {
    .name = "attention_grad",
    .shapes = attention_grad_shapes,
    .cpu = cpu::attention_grad_kernel,
    .batch = rules::batch_attention<kMask>,
    .samples = attention_grad_samples,
    .params = kParamsOf<AttentionParams>,
    .expand = attention_grad_expand,
    .prepare = cpu::prepare_attention_grad,
    .takes_strides = attention_grad_takes_strides,
    .flops = attention_grad_flops,
};

}  // namespace spruce
