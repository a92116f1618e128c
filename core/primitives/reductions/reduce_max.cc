// SPDX-License-Identifier: Apache-2.0
// The largest element over axes; NaN where there is one.
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/reduce/reduce.h"
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {

extern constinit const Primitive reduce_max_p = {
    .name = "reduce_max",
    .shape = rules::reduced_nonempty,
    .cpu = cpu::reduce_kernel<cpu::Largest>,
    .jvp = rules::jvp_extremum,
    .batch = rules::batch_reduce,
    .samples = rules::reduce_nonempty_samples,
    .params = kParamsOf<ReduceParams>,
    .kind = PrimitiveKind::kReduction,
    .prepare = cpu::prepare_with_workspace<cpu::reduce_with<cpu::Largest>, cpu::reduce_workspace>,
    .combine = &max_p,
};

}  // namespace spruce
