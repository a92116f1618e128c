// SPDX-License-Identifier: Apache-2.0
// The first input. Gradients reach it only where the second, a mask for its leading axes, is true:
// vmap computes all branches of a cond for all examples, and on the way back through those that an
// example did not take, 0 times infinity would be NaN.
#include "spruce/core/ops/ops.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce {
namespace {

void guard_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in);
  if (a.tangents[0].defined()) a.out_tangents[0] = bind1(a.p, {a.tangents[0], a.in[1]});
}

void transpose_rule(const TransposeArgs& a) {
  const Array mask = rules::over_leading_axes(a.in[1], a.cts[0].rank());
  a.out[0] = where(mask, a.cts[0], zeros_like(a.cts[0]));
}

// An array that all examples share stays shared, since the examples whose mask is false compute
// with the operands of one whose mask is true (fill_unmasked): any of them lets its gradient by.
void guard_batch(const BatchArgs& a) {
  if (!a.batched[0] && a.in[0].rank() > 0 && a.in[1].rank() == 1) {
    a.out[0] = bind1(a.p, {a.in[0], any(a.in[1])});
    a.out_batched[0] = false;
    return;
  }
  std::vector<Array> in;
  for (size_t i = 0; i < 2; ++i)
    in.push_back(rules::materialize_batch(a.in[i], a.batched[i], a.size));
  a.out[0] = bind1(a.p, in);
}

std::vector<Sample> guard_samples() {
  std::vector<Sample> out = {rules::sample_of({{2, 3}, {2}}), rules::sample_of({{}, {}})};
  for (Sample& s : out) {
    SampleInput& mask = s.in[1];
    mask.aval.dtype = Dtype::kBool;
    mask.values.assign(static_cast<size_t>(mask.aval.numel()), 1);
  }
  return out;
}

}  // namespace

extern constinit const Primitive guard_p = {
    .name = "guard",
    .shape = rules::masked_shape,
    .jvp = guard_jvp,
    .transpose = transpose_rule,
    .batch = guard_batch,
    .samples = guard_samples,
    .kind = PrimitiveKind::kView,
};

Aval rules::masked_shape(const ShapeArgs& a) {
  const Shape &x = a.in[0]->shape, &mask = a.in[1]->shape;
  bool leads = mask.rank() <= x.rank() && is_bool(a.in[1]->dtype);
  for (int i = 0; leads && i < mask.rank(); ++i) leads = x[i] == mask[i];
  if (!leads)
    throw GraphError(std::string(a.op) + ": the mask is " + to_string(*a.in[1]) +
                     "; it must be bool, of the leading axes of " + to_string(*a.in[0]));
  return *a.in[0];
}

Array rules::over_leading_axes(const Array& mask, int rank) {
  Shape shape = mask.shape();
  while (shape.rank() < rank) shape.push_back(1);
  return reshape(mask, shape);
}

}  // namespace spruce
