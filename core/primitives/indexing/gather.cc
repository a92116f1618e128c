// SPDX-License-Identifier: Apache-2.0
// Windows of an operand at index vectors.
#include "spruce/core/rules/gather.h"

#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/row_blocks.h"

namespace spruce {
namespace {

void gather_jvp(const JvpArgs& a) {
  a.out[0] = bind1(a.p, a.in, a.params);
  if (a.tangents[0].defined()) a.out_tangents[0] = bind1(a.p, {a.tangents[0], a.in[1]}, a.params);
}

void gather_transpose(const TransposeArgs& a) {
  if (!a.linear(0)) return;
  a.out[0] = bind1(scatter_add_p, {rules::zeros_of(a.avals[0]), a.in[1], a.cts[0]}, a.params);
}

// Positions by rows; those of a batch advance with the operand's.
rules::RowReads gather_rows(const RowArgs& a) {
  const auto& p = a.params.get<GatherParams>();
  if (!rules::positions_are_rows(p, *a.in[1], *a.out[0])) return {};
  if (!p.indices_batch_dims.contains(0)) return {{RowRead::kWhole, RowRead::kRows}};
  const bool first = p.indices_batch_dims[0] == 0 && p.operand_batch_dims[0] == 0;
  if (!first || !rules::has_rows(*a.in[0], a.all)) return {};
  return {{RowRead::kRows, RowRead::kRows}};
}

}  // namespace

extern constinit const Primitive gather_p = {
    .name = "gather",
    .shape = rules::gather_shape,
    .cpu = cpu::gather_kernel,
    .jvp = gather_jvp,
    .transpose = gather_transpose,
    .batch = rules::batch_gather,
    .samples = rules::gather_samples,
    .params = kParamsOf<GatherParams>,
    .reads_part = true,
    .flops = rules::no_flops,
    .rows = gather_rows,
};

}  // namespace spruce
