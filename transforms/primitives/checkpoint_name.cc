// SPDX-License-Identifier: Apache-2.0
// A value under a name, which checkpoint can be told to keep.
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/rules/checkpoint_rules.h"

namespace spruce {
namespace {

Aval checkpoint_name_shape(const ShapeArgs& a) { return *a.in[0]; }

// The name is of the value, not of its tangent.
void checkpoint_name_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = a.tangents[0];
}

void checkpoint_name_batch(const BatchArgs& a) { a.out[0] = bind1(a.p, a.in, a.params); }

std::vector<Sample> checkpoint_name_samples() {
  return {rules::sample_of({{2, 3}}, Params::make(CheckpointNameParams{"hidden"}))};
}

}  // namespace

extern constinit const Primitive checkpoint_name_p = {
    .name = "checkpoint_name",
    .shape = checkpoint_name_shape,
    .jvp = checkpoint_name_jvp,
    .batch = checkpoint_name_batch,
    .samples = checkpoint_name_samples,
    .params = kParamsOf<CheckpointNameParams>,
    .kind = PrimitiveKind::kView,
};

}  // namespace spruce
