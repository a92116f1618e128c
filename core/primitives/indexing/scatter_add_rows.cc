// SPDX-License-Identifier: Apache-2.0
// Rows of one array added to rows of another; the rows are not stored in between.
#include "spruce/core/rules/scatter_add_rows.h"

#include "spruce/core/cpu/index/windows.h"

namespace spruce {

GatherParams ScatterAddRowsParams::scatter(const Shape& operand, const Shape& indices) const {
  GatherParams p = rules::take_params(operand, 0, indices.rank() - 1);
  p.clip = clip;
  p.wraps = wraps;
  return p;
}

GatherParams ScatterAddRowsParams::gather(const Shape& source, const Shape& indices) const {
  GatherParams p = rules::take_params(source, 0, indices.rank() - 1);
  p.wraps = places_wrap;
  return p;
}

Shape ScatterAddRowsParams::updates(const Shape& operand, const Shape& indices) const {
  Shape out = indices;
  out.erase(out.rank() - 1);
  for (int i = 1; i < operand.rank(); ++i) out.push_back(operand[i]);
  return out;
}

namespace {

Aval scatter_add_rows_shape(const ShapeArgs& a) {
  const Aval &operand = *a.in[0], &indices = *a.in[1], &source = *a.in[2], &places = *a.in[3];
  if (operand.shape.rank() < 1 || source.shape.rank() < 1 || indices.shape.rank() < 1 ||
      places.shape != indices.shape)
    throw ShapeError(std::string(a.op) + ": " + to_string(indices) + " and " + to_string(places) +
                     " do not name rows of " + to_string(operand) + " and " + to_string(source) +
                     "; both are i32[positions..., 1]");
  const auto& p = a.params.get<ScatterAddRowsParams>();
  const Aval* from[] = {&source, &places};
  const Aval rows =
      output_avals(gather_p, from, Params::make(p.gather(source.shape, places.shape)))[0];
  const Aval* to[] = {&operand, &indices, &rows};
  return output_avals(scatter_add_p, to, Params::make(p.scatter(operand.shape, indices.shape)))[0];
}

std::vector<Array> scatter_add_rows_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<ScatterAddRowsParams>();
  const Shape indices = in[1].shape();
  const Array rows =
      bind1(gather_p, {in[2], in[3]}, Params::make(p.gather(in[2].shape(), indices)));
  return {
      bind1(scatter_add_p, {in[0], in[1], rows}, Params::make(p.scatter(in[0].shape(), indices)))};
}

double scatter_add_rows_flops(const PrepareArgs& a) {
  const auto& p = a.params.get<ScatterAddRowsParams>();
  return static_cast<double>(p.updates(a.in[0]->shape, a.in[1]->shape).numel());
}

std::vector<Sample> scatter_add_rows_samples() {
  const auto at = [](const Shape& positions, std::vector<double> values) {
    Shape shape = positions;
    shape.push_back(1);
    SampleInput in;
    in.aval = Aval{Dtype::kInt32, false, shape};
    in.low = in.high = 0;
    in.values = std::move(values);
    return in;
  };
  const auto rows = [](const Shape& shape) {
    SampleInput in;
    in.aval = Aval{Dtype::kFloat32, false, shape};
    in.distinct = true;
    return in;
  };
  const auto params = [](bool clip) { return Params::make(ScatterAddRowsParams{clip}); };
  return {
      // Rows met twice; one left out and one moved; lists of rows; none; single elements.
      Sample{
          .in = {rows({4, 20}), at({5}, {0, 3, 3, 1, 0}), rows({3, 20}), at({5}, {2, 0, 1, 1, 2})},
          .params = params(true)},
      Sample{.in = {rows({4, 3}), at({4}, {0, 9, -1, 3}), rows({2, 3}), at({4}, {1, 0, 1, 5})},
             .params = params(false)},
      Sample{.in = {rows({3, 2, 2}), at({2, 2}, {0, 2, 1, 0}), rows({2, 2, 2}),
                    at({2, 2}, {1, 0, 0, 1})},
             .params = params(true)},
      Sample{.in = {rows({3, 2}), at({0}, {}), rows({2, 2}), at({0}, {})}, .params = params(true)},
      Sample{.in = {rows({3}), at({2}, {2, 2}), rows({2}), at({2}, {1, 0})},
             .params = params(true)},
  };
}

}  // namespace

extern constinit const Primitive scatter_add_rows_p = {
    .name = "scatter_add_rows",
    .shape = scatter_add_rows_shape,
    .cpu = cpu::scatter_add_rows_kernel,
    .samples = scatter_add_rows_samples,
    .params = kParamsOf<ScatterAddRowsParams>,
    .in_place = true,
    .expand = scatter_add_rows_expand,
    .prepare = cpu::prepare_scatter_add_rows,
    .flops = scatter_add_rows_flops,
};

}  // namespace spruce
