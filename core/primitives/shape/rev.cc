// SPDX-License-Identifier: Apache-2.0
// The elements of some axes in reverse order.
#include "spruce/core/cpu/index/move.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval rev_shape(const ShapeArgs& a) {
  rules::settled_axes(a.op, a.params.get<ReverseParams>().axes, a.in[0]->shape.rank());
  return *a.in[0];
}

IndexMap rev_map(const Params& params, const Shape& shape) {
  IndexMap m = rules::identity_map(shape);
  for (const int64_t axis : params.get<ReverseParams>().axes) {
    m.from[axis] = shape[axis] - 1;
    m.stride[axis] = -1;
  }
  return m;
}

void rev_transpose(const TransposeArgs& a) { a.out[0] = bind1(a.p, {a.cts[0]}, a.params); }

void rev_batch(const BatchArgs& a) {
  a.out[0] = rules::reverse_axes(a.in[0], rules::shifted(a.params.get<ReverseParams>().axes));
}

std::vector<Sample> rev_samples() {
  const auto sample = [](const Shape& x, const Axes& axes) {
    return rules::sample_of({x}, Params::make(ReverseParams{axes}));
  };
  return {sample({5}, {0}),       sample({2, 3}, {0}),       sample({2, 3}, {1}),
          sample({2, 3}, {0, 1}), sample({2, 3, 4}, {0, 2}), sample({0, 3}, {1}),
          sample({0, 3}, {0})};
}

}  // namespace

extern constinit const Primitive rev_p = {
    .name = "rev",
    .shape = rev_shape,
    .cpu = cpu::move_kernel<rev_map>,
    .jvp = rules::jvp_linear,
    .transpose = rev_transpose,
    .batch = rev_batch,
    .samples = rev_samples,
    .params = kParamsOf<ReverseParams>,
    .kind = PrimitiveKind::kMove,
    .takes_strides = rules::any_strides,
    .index_maps = rules::one_map<rev_map>,
    .flops = rules::no_flops,
};

}  // namespace spruce
