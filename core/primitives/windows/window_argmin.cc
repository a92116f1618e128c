// SPDX-License-Identifier: Apache-2.0
// Which tap of each window holds its smallest element: the first one in row-major order, -1 where
// there is none.
#include "spruce/core/cpu/window/window.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/elementwise.h"
#include "spruce/core/rules/window.h"

namespace spruce {

extern constinit const Primitive window_argmin_p = {
    .name = "window_argmin",
    .shape = rules::window_indices,
    .cpu = cpu::window_argmin_kernel,
    .jvp = rules::jvp_zero,
    .batch = rules::batch_window,
    .samples = rules::window_samples,
    .params = kParamsOf<WindowParams>,
    .prepare =
        cpu::prepare_with_workspace<cpu::window_argmin_kernel, cpu::window_arg_reduce_workspace>,
    .flops = rules::window_flops,
    .rows = rules::rows_of_windows<WindowParams>,
};

}  // namespace spruce
