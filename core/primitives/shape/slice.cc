// SPDX-License-Identifier: Apache-2.0
// The elements start, start + stride, ... below limit of each axis.
#include "spruce/core/cpu/index/move.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval slice_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<SliceParams>();
  Aval out = *a.in[0];
  const int rank = out.shape.rank();
  bool ok = p.start.rank() == rank && p.limit.rank() == rank && p.stride.rank() == rank;
  for (int i = 0; ok && i < rank; ++i) {
    ok = 0 <= p.start[i] && p.start[i] <= p.limit[i] && p.limit[i] <= out.shape[i] &&
         p.stride[i] > 0;
    if (ok)
      out.shape[i] = p.limit[i] == p.start[i] ? 0 : (p.limit[i] - p.start[i] - 1) / p.stride[i] + 1;
  }
  if (!ok) {
    throw IndexError(
        std::string(a.op) + ": start " + to_string(p.start) + ", limit " + to_string(p.limit) +
        ", stride " + to_string(p.stride) + " do not fit " + to_string(*a.in[0]) +
        "; one of each for each axis is needed, with 0 <= start <= limit <= size and stride >= 1");
  }
  return out;
}

IndexMap slice_map(const Params& params, const Shape& out) {
  const auto& p = params.get<SliceParams>();
  return rules::slice_map(p.start, p.stride, out);
}

void slice_transpose(const TransposeArgs& a) {
  const auto& p = a.params.get<SliceParams>();
  const Shape &x = a.avals[0].shape, &y = a.out_avals[0].shape;
  PadParams pad{p.start, p.start, p.stride};
  for (int i = 0; i < x.rank(); ++i) {
    pad.interior[i] = y[i] > 1 ? p.stride[i] - 1 : 0;
    pad.high[i] = x[i] - p.start[i] - (y[i] == 0 ? 0 : (y[i] - 1) * p.stride[i] + 1);
  }
  a.out[0] = rules::pad_all(a.cts[0], rules::scalar_of(a.cts[0].dtype(), 0), pad.low, pad.high,
                            pad.interior);
}

void slice_batch(const BatchArgs& a) {
  const auto& p = a.params.get<SliceParams>();
  a.out[0] = rules::slice_all(a.in[0], rules::with_front(p.start, 0),
                              rules::with_front(p.limit, a.size), rules::with_front(p.stride, 1));
}

std::vector<Sample> slice_samples() {
  const auto sample = [](const Shape& x, const Shape& start, const Shape& limit,
                         const Shape& stride) {
    return rules::sample_of({x}, Params::make(SliceParams{start, limit, stride}));
  };
  return {sample({}, {}, {}, {}),
          sample({7}, {1}, {6}, {1}),
          sample({7}, {0}, {7}, {3}),
          sample({8}, {1}, {8}, {2}),
          sample({7}, {2}, {6}, {int64_t{1} << 62}),
          sample({4, 5}, {1, 0}, {3, 5}, {1, 1}),
          sample({4, 5}, {0, 1}, {4, 4}, {2, 2}),
          sample({4, 5}, {2, 0}, {2, 5}, {1, 1}),
          sample({0, 3}, {0, 1}, {0, 3}, {1, 1}),
          sample({2, 3, 4}, {0, 1, 1}, {2, 3, 4}, {1, 1, 2})};
}

rules::RowReads slice_rows(const RowArgs& a) {
  if (a.params.get<SliceParams>().stride[0] != 1) return {};
  return rules::rows_alike(a);
}

Params slice_row_params(const Params& params, int64_t rows) {
  SliceParams p = params.get<SliceParams>();
  p.limit[0] = rows;
  return Params::make(std::move(p));
}

}  // namespace

extern constinit const Primitive slice_p = {
    .name = "slice",
    .shape = slice_shape,
    .cpu = cpu::move_kernel<slice_map>,
    .jvp = rules::jvp_linear,
    .transpose = slice_transpose,
    .batch = slice_batch,
    .samples = slice_samples,
    .params = kParamsOf<SliceParams>,
    .kind = PrimitiveKind::kMove,
    .takes_strides = rules::any_strides,
    .index_maps = rules::one_map<slice_map>,
    .reads_part = true,
    .flops = rules::no_flops,
    .rows = slice_rows,
    .row_params = slice_row_params,
};

}  // namespace spruce
