// SPDX-License-Identifier: Apache-2.0
// The largest of the operand and the updates at index vectors; NaN wins. Ties share the derivative
// evenly.
#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/gather.h"

namespace spruce {

extern constinit const Primitive scatter_max_p = {
    .name = "scatter_max",
    .shape = rules::scatter_shape,
    .cpu = cpu::scatter_kernel<cpu::ScatterOp::kMax>,
    .jvp = rules::jvp_scatter_extremum,
    .batch = rules::batch_scatter,
    .samples = rules::scatter_samples,
    .params = kParamsOf<GatherParams>,
    .in_place = true,
    .prepare = cpu::prepare_scatter_kernel<cpu::ScatterOp::kMax>,
    .flops = rules::flops_per_last_input<1>,
    .updates_in_blocks = rules::sets_in_blocks,
};

}  // namespace spruce
