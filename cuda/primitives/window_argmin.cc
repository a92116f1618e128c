// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window.h"
#include "spruce/cuda/codegen/windows.h"

namespace spruce {
extern const Primitive window_argmin_p;
}

namespace spruce::cuda {

extern const Twin window_argmin_twin = {&window_argmin_p, [](const PrepareArgs& args) {
                                          return window_reduction(args, "ArgSmallest");
                                        }};

}  // namespace spruce::cuda
