// SPDX-License-Identifier: Apache-2.0
// Axes in another order.
#include "spruce/core/cpu/index/move.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval transpose_shape(const ShapeArgs& a) {
  const Axes& perm = a.params.get<TransposeParams>().perm;
  const Aval& x = *a.in[0];
  bool ok = perm.rank() == x.shape.rank();
  for (int i = 0; ok && i < perm.rank(); ++i) ok = perm.contains(i);
  if (!ok) {
    throw ShapeError(std::string(a.op) + ": " + to_string(perm) + " is no order of the axes of " +
                     to_string(x) + "; name each of its " + std::to_string(x.shape.rank()) +
                     " axes once");
  }
  Aval out = x;
  for (int i = 0; i < perm.rank(); ++i) out.shape[i] = x.shape[static_cast<int>(perm[i])];
  return out;
}

IndexMap transpose_map(const Params& params, const Shape& out) {
  return rules::transpose_map(params.get<TransposeParams>().perm, out);
}

void transpose_transpose(const TransposeArgs& a) {
  a.out[0] =
      rules::transpose_axes(a.cts[0], rules::inverse_axes(a.params.get<TransposeParams>().perm));
}

void transpose_batch(const BatchArgs& a) {
  a.out[0] = rules::transpose_axes(
      a.in[0], rules::with_front(rules::shifted(a.params.get<TransposeParams>().perm), 0));
}

std::vector<Sample> transpose_samples() {
  const auto sample = [](const Shape& s, const Axes& perm) {
    return rules::sample_of({s}, Params::make(TransposeParams{perm}));
  };
  return {sample({}, {}),
          sample({4}, {0}),
          sample({2, 3}, {1, 0}),
          sample({5, 6}, {1, 0}),
          sample({2, 3, 4}, {2, 0, 1}),
          sample({2, 3, 4}, {0, 2, 1}),
          sample({2, 1, 3, 2}, {3, 1, 0, 2}),
          sample({0, 3}, {1, 0})};
}

rules::RowReads transpose_rows(const RowArgs& a) {
  if (a.params.get<TransposeParams>().perm[0] != 0) return {};
  return rules::rows_alike(a);
}

}  // namespace

extern constinit const Primitive transpose_p = {
    .name = "transpose",
    .shape = transpose_shape,
    .cpu = cpu::move_kernel<transpose_map>,
    .jvp = rules::jvp_linear,
    .transpose = transpose_transpose,
    .batch = transpose_batch,
    .samples = transpose_samples,
    .params = kParamsOf<TransposeParams>,
    .takes_strides = rules::any_strides,
    .index_maps = rules::one_map<transpose_map>,
    .flops = rules::no_flops,
    .rows = transpose_rows,
};

}  // namespace spruce
