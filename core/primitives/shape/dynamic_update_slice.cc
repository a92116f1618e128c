// SPDX-License-Identifier: Apache-2.0
// The operand with a window at a computed position replaced: inputs are the operand, the update and
// one start for each axis.
#include <cstring>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/dynamic_slice.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/shape.h"

namespace spruce {

extern const Primitive scatter_p;

namespace {

Aval dynamic_update_slice_shape(const ShapeArgs& a) {
  const Aval &x = *a.in[0], &update = *a.in[1];
  if (update.dtype != x.dtype) {
    throw DtypeError(std::string(a.op) + ": the dtypes of " + to_string(x) + " and of the update " +
                     to_string(update) + " differ; convert one with astype");
  }
  rules::check_starts(a, x, update.shape, a.in.subspan(2));
  return {x.dtype, x.weak && update.weak, x.shape};
}

void dynamic_update_slice_kernel(const KernelArgs& a) {
  const View &x = a.in[0], &update = a.in[1], &y = a.out[0];
  const int64_t bytes = size_of(x.dtype()),
                offset = rules::clamped_offset(x.shape(), update.shape(), a.in.subspan(2));
  const Shape strides = row_major_strides(x.shape());
  if (y.data == update.data) return;  // which is as large as the operand, and replaces all of it
  if (y.data != x.data) cpu::copy_strided(x.shape(), {y.data, strides}, {x.data, strides}, bytes);
  cpu::copy_strided(update.shape(), {cpu::advance(y.data, offset, bytes), strides},
                    {update.data, row_major_strides(update.shape())}, bytes);
}

void dynamic_update_slice_jvp(const JvpArgs& a) {
  std::vector<Array> t(a.in.begin(), a.in.end());
  for (size_t i = 0; i < 2; ++i)
    t[i] = a.tangents[i].defined() ? a.tangents[i] : rules::zeros_of(a.in[i].aval());
  a.out[0] = bind1(a.p, a.in, a.params);
  a.out_tangents[0] = bind1(a.p, t, a.params);
}

void dynamic_update_slice_transpose(const TransposeArgs& a) {
  std::vector<Array> in(a.in.begin(), a.in.end());
  if (a.linear(0)) {
    in[0] = a.cts[0];
    in[1] = rules::zeros_of(a.avals[1]);
    a.out[0] = bind1(a.p, in);
  }
  if (a.linear(1)) {
    in[0] = a.cts[0];
    in.erase(in.begin() + 1);
    a.out[1] = bind1(dynamic_slice_p, in, Params::make(DynamicSliceParams{a.avals[1].shape}));
  }
}

void dynamic_update_slice_batch(const BatchArgs& a) {
  const Array x = rules::materialize_batch(a.in[0], a.batched[0], a.size);
  const Array update = rules::materialize_batch(a.in[1], a.batched[1], a.size);
  const auto starts = a.in.subspan(2);
  bool moving = false;
  for (const bool b : a.batched.subspan(2)) moving = moving || b;
  if (!moving) {
    std::vector<Array> in{x, update};
    for (const Array& s : rules::starts_with_front(starts)) in.push_back(s);
    a.out[0] = bind1(a.p, in);
    return;
  }
  const Array indices = rules::stacked_starts(starts, a.batched.subspan(2), a.size);
  Shape window = update.shape();
  window.erase(0);
  a.out[0] = bind1(scatter_p, {x, indices, update}, Params::make(rules::window_params(window)));
}

std::vector<Sample> dynamic_update_slice_samples() {
  const auto sample = [](const Shape& x, const Shape& update, const std::vector<double>& starts) {
    return rules::dynamic_sample({x, update}, starts, {});
  };
  return {sample({6}, {3}, {2}),          sample({6}, {3}, {5}),          sample({6}, {2}, {-2}),
          sample({3, 4}, {2, 2}, {1, 2}), sample({3, 4}, {3, 0}, {0, 1}), sample({}, {}, {}),
          sample({0, 3}, {0, 2}, {0, 1})};
}

}  // namespace

extern constinit const Primitive dynamic_update_slice_p = {
    .name = "dynamic_update_slice",
    .shape = dynamic_update_slice_shape,
    .cpu = dynamic_update_slice_kernel,
    .jvp = dynamic_update_slice_jvp,
    .transpose = dynamic_update_slice_transpose,
    .batch = dynamic_update_slice_batch,
    .samples = dynamic_update_slice_samples,
    .in_place = true,
    .flops = rules::no_flops,
};

}  // namespace spruce
