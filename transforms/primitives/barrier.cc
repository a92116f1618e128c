// SPDX-License-Identifier: Apache-2.0
// The first input, not before the second is there. Passes do not look through it.
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/rules/checkpoint_rules.h"

namespace spruce {
namespace {

Aval barrier_shape(const ShapeArgs& a) { return *a.in[0]; }

void barrier_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in);
  if (a.tangents[0].defined()) a.out_tangents[0] = bind1(a.p, {a.tangents[0], a.in[1]});
}

void barrier_transpose(const TransposeArgs& a) { a.out[0] = a.cts[0]; }

void barrier_batch(const BatchArgs& a) {
  a.out[0] = bind1(a.p, a.in);
  a.out_batched[0] = a.batched[0];
}

std::vector<Sample> barrier_samples() {
  return {rules::sample_of({{2, 3}, {4}}), rules::sample_of({{}, {0}})};
}

}  // namespace

extern constinit const Primitive barrier_p = {
    .name = "barrier",
    .shape = barrier_shape,
    .jvp = barrier_jvp,
    .transpose = barrier_transpose,
    .batch = barrier_batch,
    .samples = barrier_samples,
    .kind = PrimitiveKind::kView,
};

}  // namespace spruce
