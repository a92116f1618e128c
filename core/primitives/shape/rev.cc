// SPDX-License-Identifier: Apache-2.0
// The elements of some axes in reverse order.
#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/rules/axes.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval rev_shape(const ShapeArgs& a) {
  rules::settled_axes(a.op, a.params.get<ReverseParams>().axes, a.in[0]->shape.rank());
  return *a.in[0];
}

void rev_kernel(const KernelArgs& a) {
  const View &x = a.in[0], &y = a.out[0];
  const Shape strides = x.steps();
  Shape from = strides;
  int64_t offset = 0;
  for (const int64_t axis : a.params.get<ReverseParams>().axes) {
    const auto i = static_cast<int>(axis);
    offset += (x.shape()[i] - 1) * strides[i];
    from[i] = -strides[i];
  }
  const int64_t bytes = size_of(x.dtype());
  if (x.numel() > 0)
    cpu::copy_strided(x.shape(), {y.data, y.steps()}, {cpu::advance(x.data, offset, bytes), from},
                      bytes);
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
    .cpu = rev_kernel,
    .jvp = rules::jvp_linear,
    .transpose = rev_transpose,
    .batch = rev_batch,
    .samples = rev_samples,
    .params = kParamsOf<ReverseParams>,
    .takes_strides = rules::reads_strides,
    .flops = rules::no_flops,
};

}  // namespace spruce
