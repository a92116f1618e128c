// SPDX-License-Identifier: Apache-2.0
// The position along one axis of the first smallest element, or of the first NaN.
#include "spruce/core/cpu/reduce/arg_reduce.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/reduce.h"

namespace spruce {

extern constinit const Primitive argmin_p = {
    .name = "argmin",
    .shape = rules::arg_reduced,
    .cpu = cpu::arg_reduce_kernel<cpu::Smallest>,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_arg_reduce,
    .samples = rules::arg_reduce_samples,
    .params = kParamsOf<ArgReduceParams>,
};

}  // namespace spruce
