// SPDX-License-Identifier: Apache-2.0
// A window of static size at a position that is computed: inputs are the operand and one start for
// each axis.
#include "spruce/core/rules/dynamic_slice.h"

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval dynamic_slice_shape(const ShapeArgs& a) {
  const Shape& window = a.params.get<DynamicSliceParams>().sizes;
  const Aval& x = *a.in[0];
  rules::check_starts(a, x, window, a.in.subspan(1));
  return {x.dtype, x.weak, window};
}

void dynamic_slice_kernel(const KernelArgs& a) {
  const View &x = a.in[0], &y = a.out[0];
  const int64_t bytes = size_of(x.dtype()),
                offset = rules::clamped_offset(x.shape(), y.shape(), a.in.subspan(1));
  cpu::copy_strided(y.shape(), {y.data, row_major_strides(y.shape())},
                    {cpu::advance(x.data, offset, bytes), row_major_strides(x.shape())}, bytes);
}

void dynamic_slice_jvp(const JvpArgs& a) {
  std::vector<Array> t(a.in.begin(), a.in.end());
  t[0] = a.tangents[0];
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = bind1(a.p, t, a.params);
}

void dynamic_slice_transpose(const TransposeArgs& a) {
  std::vector<Array> in(a.in.begin(), a.in.end());
  in[0] = zeros(a.avals[0].shape, a.avals[0].dtype);
  in.insert(in.begin() + 1, a.cts[0]);
  a.out[0] = bind1(dynamic_update_slice_p, in);
}

void dynamic_slice_batch(const BatchArgs& a) {
  const Shape& window = a.params.get<DynamicSliceParams>().sizes;
  const auto starts = a.in.subspan(1);
  bool moving = false;
  for (const bool b : a.batched.subspan(1)) moving = moving || b;
  if (!moving) {
    std::vector<Array> in = rules::starts_with_front(starts);
    in.insert(in.begin(), a.in[0]);
    a.out[0] = bind1(a.p, in, Params::make(DynamicSliceParams{rules::with_front(window, a.size)}));
    return;
  }
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size);
  const Array indices = rules::stacked_starts(starts, a.batched.subspan(1), a.size);
  a.out[0] = rules::gather_like(x, indices, Params::make(rules::window_params(window)));
}

std::vector<Sample> dynamic_slice_samples() {
  const auto sample = [](const Shape& x, const std::vector<double>& starts, const Shape& window) {
    return rules::dynamic_sample({x}, starts, Params::make(DynamicSliceParams{window}));
  };
  return {sample({6}, {2}, {3}),          sample({6}, {5}, {3}),          sample({6}, {-2}, {2}),
          sample({3, 4}, {1, 2}, {2, 2}), sample({3, 4}, {0, 1}, {3, 0}), sample({}, {}, {}),
          sample({0, 3}, {0, 1}, {0, 2})};
}

}  // namespace

extern constinit const Primitive dynamic_slice_p = {
    .name = "dynamic_slice",
    .shape = dynamic_slice_shape,
    .cpu = dynamic_slice_kernel,
    .jvp = dynamic_slice_jvp,
    .transpose = dynamic_slice_transpose,
    .batch = dynamic_slice_batch,
    .samples = dynamic_slice_samples,
    .params = kParamsOf<DynamicSliceParams>,
    .reads_part = true,
    .flops = rules::no_flops,
};

}  // namespace spruce
