// SPDX-License-Identifier: Apache-2.0
// The smallest element over axes; NaN where there is one.
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {

extern constinit const Primitive reduce_min_p = {
    .name = "reduce_min",
    .shape = rules::reduced_nonempty,
    .cpu = cpu::reduce_kernel<cpu::Smallest>,
    .jvp = rules::jvp_extremum,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_nonempty_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<cpu::reduce_with<cpu::Smallest>, cpu::reduce_workspace>,
    .combine = &min_p,
};

}  // namespace spruce
