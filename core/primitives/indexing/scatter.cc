// SPDX-License-Identifier: Apache-2.0
// The operand with windows at index vectors replaced by updates. Where windows meet, the last one
// stays.
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "spruce/core/ops/shape.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/gather.h"
#include "spruce/core/rules/shape.h"

namespace spruce {
namespace {

// For each element of the updates, whether it is the one that stayed.
Array stayed(const Array& indices, const Aval& operand, const Aval& updates, const Params& params) {
  const Dtype dtype = updates.numel() > INT32_MAX ? int64 : int32;
  const Array order = reshape(rules::iota({updates.numel()}, dtype, 0), updates.shape);
  const Array winners = bind1(scatter_p, {zeros(operand.shape, dtype), indices, order}, params);
  return equal(rules::gather_like(winners, indices, params), order);
}

void scatter_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  const Array operand = a.tangents[0].defined() ? a.tangents[0] : rules::zeros_of(a.in[0].aval());
  const Array updates = a.tangents[2].defined() ? a.tangents[2] : rules::zeros_of(a.in[2].aval());
  a.out_tangents[0] = bind1(a.p, {operand, a.in[1], updates}, a.params);
}

void scatter_transpose_rule(const TransposeArgs& a) {
  const Array& ct = a.cts[0];
  const Array& indices = a.in[1];
  if (a.linear(0)) {
    a.out[0] = bind1(scatter_p, {ct, indices, rules::zeros_of(a.avals[2])}, a.params);
  }
  if (a.linear(2)) {
    const Array taken = rules::gather_like(ct, indices, a.params);
    const bool unique = rules::one_window(a.params.get<GatherParams>(), a.avals[1].shape);
    a.out[2] =
        unique ? taken
               : where(stayed(indices, a.avals[0], a.avals[2], a.params), taken, zeros_like(taken));
  }
}

}  // namespace

extern constinit const Primitive scatter_p = {
    .name = "scatter",
    .shape = rules::scatter_shape,
    .cpu = cpu::scatter_kernel<cpu::ScatterOp::kSet>,
    .jvp = scatter_jvp,
    .transpose = scatter_transpose_rule,
    .batch = rules::batch_scatter,
    .samples = rules::scatter_samples,
    .params = kParamsOf<GatherParams>,
    .in_place = true,
    .prepare = cpu::prepare_scatter_kernel<cpu::ScatterOp::kSet>,
    .flops = rules::no_flops,
    .updates_in_blocks = rules::sets_in_blocks,
};

}  // namespace spruce
