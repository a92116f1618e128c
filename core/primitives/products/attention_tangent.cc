// SPDX-License-Identifier: Apache-2.0
// The tangent of attention. Forward mode runs its slow form, reverse mode transposes it.
#include "spruce/core/ops/linalg.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/reduce.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/primitives/products/attention_forms.h"
#include "spruce/core/rules/attention.h"

namespace spruce {
namespace {

constexpr size_t kTangentMask = 8;

Aval attention_tangent_shape(const ShapeArgs& a) {
  Aval out = rules::attention_result(a, kTangentMask);
  out.device = a.in[0]->device;  // its operations place themselves one by one
  rules::check_attention_residuals(a, out);
  rules::check_attention_input(a, 5, "tangent of the query", *a.in[0]);
  rules::check_attention_input(a, 6, "tangent of the key", *a.in[1]);
  rules::check_attention_input(a, 7, "tangent of the value", *a.in[2]);
  return out;
}

std::vector<Array> attention_tangent_expand(std::span<const Array> in, const Params& params) {
  const rules::AttentionParts parts(in, kTangentMask, params);
  const auto wide = [&](size_t i) { return astype(in[i], parts.weights.dtype()); };
  const Array scores =
      matmul(wide(5) * params.get<AttentionParams>().scale, swapaxes(parts.key, -1, -2)) +
      matmul(parts.query, swapaxes(wide(6), -1, -2));
  const Array moved = parts.weights * scores;
  const Array out = matmul(moved, parts.value) - sum(moved, -1, {.keepdims = true}) * parts.out +
                    matmul(parts.weights, wide(7));
  return {astype(out, in[0].dtype())};
}

void attention_tangent_transpose_rule(const TransposeArgs& a) {
  std::vector<Array> in = {a.in[0], a.in[1], a.in[2], a.in[3], a.in[4], a.cts[0]};
  if (a.in.size() > kTangentMask) in.push_back(a.in[kTangentMask]);
  const std::vector<Array> cts = bind_all(attention_grad_p, in, a.params);
  for (size_t i = 0; i < 3; ++i) {
    if (a.linear(5 + i)) a.out[5 + i] = cts[i];
  }
}

std::vector<Sample> attention_tangent_samples() {
  return rules::attention_residual_samples([](std::vector<Shape>& shapes) {
    for (size_t i = 0; i < 3; ++i) shapes.push_back(shapes[i]);
  });
}

}  // namespace

extern constinit const Primitive attention_tangent_p = {
    .name = "attention_tangent",
    .shape = attention_tangent_shape,
    .transpose = attention_tangent_transpose_rule,
    .batch = rules::batch_attention<kTangentMask>,
    .samples = attention_tangent_samples,
    .params = kParamsOf<AttentionParams>,
    .call = attention_tangent_expand,
    .expand = attention_tangent_expand,
};

}  // namespace spruce
