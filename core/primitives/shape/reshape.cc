// SPDX-License-Identifier: Apache-2.0
// The same elements in row-major order with another shape, in the same memory.
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/index_maps.h"
#include "spruce/core/rules/row_blocks.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

Aval reshape_shape(const ShapeArgs& a) {
  const Shape& to = a.params.get<ReshapeParams>().shape;
  const Aval& x = *a.in[0];
  check_shape(a.op, to, size_of(x.dtype));
  if (to.numel() != x.numel()) {
    throw ShapeError(
        std::string(a.op) + ": " + to_string(x) + " has " + std::to_string(x.numel()) +
        " elements, shape " + to_string(to) + " has " + std::to_string(to.numel()) +
        "; give a shape with as many, or -1 for one size that follows from the others");
  }
  return {x.dtype, x.weak, to};
}

Array to_shape(const Array& x, const Shape& s) {
  return bind1(reshape_p, {x}, Params::make(ReshapeParams{s}));
}

void reshape_transpose(const TransposeArgs& a) { a.out[0] = to_shape(a.cts[0], a.avals[0].shape); }

void reshape_batch(const BatchArgs& a) {
  a.out[0] = to_shape(a.in[0], rules::with_front(a.params.get<ReshapeParams>().shape, a.size));
}

std::vector<Sample> reshape_samples() {
  const auto sample = [](const Shape& from, const Shape& to) {
    return rules::sample_of({from}, Params::make(ReshapeParams{to}));
  };
  return {sample({2, 3}, {3, 2}), sample({6}, {1, 2, 3}), sample({}, {1, 1}), sample({1}, {}),
          sample({0, 3}, {2, 0})};
}

rules::RowReads reshape_rows(const RowArgs& a) {
  if (a.out[0]->shape.numel() == 0) return {};
  return rules::rows_alike(a);
}

std::vector<IndexMap> reshape_maps(const PrepareArgs& a) {
  const std::optional<IndexMap> map = rules::reshape_map(a.in[0]->shape, a.out[0]->shape);
  if (!map) return {};
  return {*map};
}

}  // namespace

extern constinit const Primitive reshape_p = {
    .name = "reshape",
    .shape = reshape_shape,
    .jvp = rules::jvp_linear,
    .transpose = reshape_transpose,
    .batch = reshape_batch,
    .samples = reshape_samples,
    .params = kParamsOf<ReshapeParams>,
    .kind = PrimitiveKind::kView,
    .cost = ElementCost::kLow,
    .index_maps = reshape_maps,
    .flops = rules::no_flops,
    .rows = reshape_rows,
    .row_params = rules::shape_of_rows<ReshapeParams>,
};

}  // namespace spruce
