// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window.h"
#include "spruce/cuda/codegen/windows.h"

namespace spruce {
extern const Primitive reduce_window_max_p;
}

namespace spruce::cuda {

extern const Twin reduce_window_max_twin = {&reduce_window_max_p, [](const PrepareArgs& args) {
                                              return window_reduction(args, "Largest");
                                            }};

}  // namespace spruce::cuda
