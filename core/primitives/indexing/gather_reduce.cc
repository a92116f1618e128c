// SPDX-License-Identifier: Apache-2.0
// A reduction of what a gather reads, which is not stored.
#include "spruce/core/rules/gather_reduce.h"

#include "spruce/core/cpu/index/gather_reduce.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {

GatherReduceParams GatherReduceParams::of(std::string reduction, const Axes& axes,
                                          const GatherParams& g) {
  return {std::move(reduction),
          axes,
          g.offset_dims,
          g.collapsed_dims,
          g.start_index_map,
          g.operand_batch_dims,
          g.indices_batch_dims,
          g.window,
          g.clip,
          g.wraps};
}

GatherParams GatherReduceParams::gather() const {
  return {
      offset_dims, collapsed_dims, start_index_map, operand_batch_dims, indices_batch_dims, window,
      clip,        wraps};
}

namespace {

const Primitive& reduction_of(const char* op, const GatherReduceParams& p) {
  const Primitive* found = find_primitive(p.reduction);
  if (found == nullptr || found->kind != PrimitiveKind::kReduction)
    throw ShapeError(std::string(op) + ": '" + p.reduction + "' is no reduction");
  return *found;
}

Aval gather_reduce_shape(const ShapeArgs& a) {
  const auto& p = a.params.get<GatherReduceParams>();
  const Primitive& reduction = reduction_of(a.op, p);
  const Aval gathered = output_avals(gather_p, a.in, Params::make(p.gather()))[0];
  const Aval* in[] = {&gathered};
  return output_avals(reduction, in, Params::make(ReduceParams{p.axes}))[0];
}

std::vector<Array> gather_reduce_expand(std::span<const Array> in, const Params& params) {
  const auto& p = params.get<GatherReduceParams>();
  const Array gathered = bind1(gather_p, in, Params::make(p.gather()));
  return {bind1(reduction_of("gather_reduce", p), {gathered}, Params::make(ReduceParams{p.axes}))};
}

double gather_reduce_flops(const PrepareArgs& a) {
  const auto& p = a.params.get<GatherReduceParams>();
  return static_cast<double>(
      output_avals(gather_p, a.in, Params::make(p.gather()))[0].shape.numel());
}

std::vector<Sample> gather_reduce_samples() {
  const auto sample = [](const char* reduction, const Shape& x, const Shape& positions,
                         const Axes& axes, std::vector<double> indices, bool clip = true) {
    GatherParams gather = rules::take_params(x, 0, positions.rank());
    gather.clip = clip;
    Shape shape = positions;
    shape.push_back(1);
    SampleInput operand, at;
    operand.aval = Aval{Dtype::kFloat32, false, x};
    operand.distinct = true;
    at.aval = Aval{Dtype::kInt32, false, shape};
    at.low = at.high = 0;
    at.values = std::move(indices);
    return Sample{.in = {operand, at},
                  .params = Params::make(GatherReduceParams::of(reduction, axes, gather))};
  };
  return {
      // Rows of each list; with one left out; of all lists; none at all; the rows themselves.
      sample("reduce_sum", {4, 20}, {2, 3}, {1}, {0, 3, 3, 1, 2, 0}),
      sample("reduce_sum", {4, 20}, {2, 3}, {1}, {0, 9, 3, 1, -2, 0}, false),
      sample("reduce_max", {4, 20}, {2, 2}, {0, 1}, {0, 3, 2, 1}),
      sample("reduce_sum", {4, 20}, {2, 0}, {1}, {}),
      sample("reduce_sum", {4, 20}, {3}, {1}, {0, 3, 2}),
  };
}

}  // namespace

extern constinit const Primitive gather_reduce_p = {
    .name = "gather_reduce",
    .shape = gather_reduce_shape,
    .cpu = cpu::gather_reduce_kernel,
    .samples = gather_reduce_samples,
    .params = kParamsOf<GatherReduceParams>,
    .expand = gather_reduce_expand,
    .prepare = cpu::prepare_gather_reduce,
    .flops = gather_reduce_flops,
};

}  // namespace spruce
