// SPDX-License-Identifier: Apache-2.0
// The smallest element of each window. Its tangent is that of the first such element.
#include <limits>

#include "spruce/core/cpu/window/window.h"
#include "spruce/core/rules/cost.h"
#include "spruce/core/rules/window.h"

namespace spruce {

extern constinit const Primitive reduce_window_min_p = {
    .name = "reduce_window_min",
    .shape = rules::window_reduced,
    .cpu = cpu::window_min_kernel,
    .jvp =
        [](const JvpArgs& a) {
          rules::jvp_window(a, window_argmin_p, std::numeric_limits<double>::infinity());
        },
    .batch = rules::batch_window,
    .samples = rules::window_samples,
    .params = kParamsOf<WindowParams>,
    .prepare = cpu::prepare_with_workspace<cpu::window_min_kernel, cpu::window_reduce_workspace>,
    .flops = rules::window_flops,
    .rows = rules::rows_of_windows<WindowParams>,
};

}  // namespace spruce
