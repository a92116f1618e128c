// SPDX-License-Identifier: Apache-2.0
// Repetition along new axes and along axes of size 1.
#include <algorithm>

#include "spruce/core/cpu/index/copy.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval broadcast_in_dim_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<BroadcastInDimParams>();
  const Aval& x = *a.in[0];
  const Axes& dims = p.broadcast_dimensions;
  check_shape(a.op, p.shape, size_of(x.dtype));
  bool ok = dims.rank() == x.shape.rank();
  for (int i = 0; ok && i < dims.rank(); ++i) {
    ok = dims[i] >= 0 && dims[i] < p.shape.rank() && (i == 0 || dims[i] > dims[i - 1]) &&
         (x.shape[i] == 1 || x.shape[i] == p.shape[static_cast<int>(dims[i])]);
  }
  if (!ok) {
    throw ShapeError(std::string(a.op) + ": " + to_string(x) + " does not broadcast to " +
                     to_string(p.shape) + " with its axes at " + to_string(dims) +
                     "; these must rise, one for each axis, and sizes must be equal or 1");
  }
  return {x.dtype, x.weak, p.shape};
}

void broadcast_in_dim_kernel(const KernelArgs& a) {
  const View &x = a.in[0], &y = a.out[0];
  const int64_t bytes = size_of(x.dtype());
  if (x.numel() == 1) return cpu::fill(y.data, x.data, y.numel(), bytes);
  const Axes& dims = a.params.get<BroadcastInDimParams>().broadcast_dimensions;
  const Shape strides = row_major_strides(x.shape());
  Shape from = Shape::filled(y.shape().rank(), 0);
  for (int i = 0; i < dims.rank(); ++i) {
    if (x.shape()[i] != 1) from[static_cast<int>(dims[i])] = strides[i];
  }
  cpu::copy_strided(y.shape(), {y.data, row_major_strides(y.shape())}, {x.data, from}, bytes);
}

void broadcast_in_dim_transpose_rule(const TransposeArgs& a) {
  const auto& p = a.params.get<BroadcastInDimParams>();
  const Shape& x = a.avals[0].shape;
  Axes summed = rules::other_axes(p.shape.rank(), p.broadcast_dimensions);
  for (int i = 0; i < x.rank(); ++i) {
    const auto axis = static_cast<int>(p.broadcast_dimensions[i]);
    if (x[i] != p.shape[axis]) summed.push_back(axis);
  }
  std::sort(summed.begin(), summed.end());
  const Array ct = summed.empty()
                       ? a.cts[0]
                       : bind1(reduce_sum_p, {a.cts[0]}, Params::make(ReduceParams{summed}));
  a.out[0] = reshape(ct, x);
}

void broadcast_in_dim_batch(const BatchArgs& a) {
  const auto& p = a.params.get<BroadcastInDimParams>();
  a.out[0] = rules::broadcast_in_dim(a.in[0], rules::with_front(p.shape, a.size),
                                     rules::with_front(rules::shifted(p.broadcast_dimensions), 0));
}

std::vector<Sample> broadcast_in_dim_samples() {
  const auto sample = [](const Shape& from, const Shape& to, const Axes& dims) {
    return rules::sample_of({from}, Params::make(BroadcastInDimParams{to, dims}));
  };
  return {sample({}, {2, 3}, {}),
          sample({3}, {2, 3}, {1}),
          sample({2}, {2, 3}, {0}),
          sample({2, 1}, {2, 3}, {0, 1}),
          sample({1, 3}, {2, 2, 3}, {0, 2}),
          sample({2, 3}, {2, 2, 3}, {0, 2}),
          sample({1, 1}, {1, 4}, {0, 1}),
          sample({3}, {0, 3}, {1}),
          sample({0}, {0, 2}, {0}),
          sample({2, 3}, {2, 3}, {0, 1})};
}

rules::RowReads broadcast_in_dim_rows(const RowArgs& a) {
  const Axes& to = a.params.get<BroadcastInDimParams>().broadcast_dimensions;
  const bool rows = !to.empty() && to[0] == 0 && a.in[0]->shape[0] == a.all;
  return {{rows ? RowRead::kRows : RowRead::kWhole}};
}

std::vector<IndexMap> broadcast_in_dim_maps(const PrepareArgs& a) {
  const Shape& in = a.in[0]->shape;
  const Axes& dims = a.params.get<BroadcastInDimParams>().broadcast_dimensions;
  IndexMap m = rules::identity_map(a.out[0]->shape);
  m.from = Shape::filled(in.rank(), 0);
  std::fill(m.axis.begin(), m.axis.end(), -1);
  for (int k = 0; k < in.rank(); ++k) {
    if (in[k] != 1) m.axis[dims[k]] = k;
  }
  return {m};
}

}  // namespace

extern constinit const Primitive broadcast_in_dim_p = {
    .name = "broadcast_in_dim",
    .shape = broadcast_in_dim_shape,
    .cpu = broadcast_in_dim_kernel,
    .jvp = rules::jvp_linear,
    .transpose = broadcast_in_dim_transpose_rule,
    .batch = broadcast_in_dim_batch,
    .samples = broadcast_in_dim_samples,
    .params = kParamsOf<BroadcastInDimParams>,
    .cost = ElementCost::kLow,
    .index_maps = broadcast_in_dim_maps,
    .flops = rules::no_flops,
    .rows = broadcast_in_dim_rows,
    .row_params = rules::shape_of_rows<BroadcastInDimParams>,
};

}  // namespace spruce
