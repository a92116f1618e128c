// SPDX-License-Identifier: Apache-2.0
// The operand with updates added at index vectors. Where windows meet, the updates add up, in their
// order.
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/gather.h"

namespace spruce {
namespace {

void scatter_add_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  const Array &operand = a.tangents[0], &updates = a.tangents[2];
  if (!updates.defined()) {
    a.out_tangents[0] = operand;
  } else {
    a.out_tangents[0] = bind1(
        a.p, {operand.defined() ? operand : rules::zeros_of(a.in[0].aval()), a.in[1], updates},
        a.params);
  }
}

void scatter_add_transpose(const TransposeArgs& a) {
  if (a.linear(0)) a.out[0] = a.cts[0];
  if (a.linear(2)) a.out[2] = rules::gather_like(a.cts[0], a.in[1], a.params);
}

}  // namespace

extern constinit const Primitive scatter_add_p = {
    .name = "scatter_add",
    .shape = rules::scatter_shape,
    .cpu = cpu::scatter_kernel<cpu::ScatterOp::kAdd>,
    .jvp = scatter_add_jvp,
    .transpose = scatter_add_transpose,
    .batch = rules::batch_scatter,
    .samples = rules::scatter_samples,
    .params = kParamsOf<GatherParams>,
    .in_place = true,
    .prepare = cpu::prepare_scatter_kernel<cpu::ScatterOp::kAdd>,
    .flops = rules::flops_per_last_input<1>,
    .updates_in_blocks = rules::sums_in_blocks,
};

}  // namespace spruce
