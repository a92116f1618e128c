// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/window.h"
#include "spruce/cuda/codegen/windows.h"

namespace spruce {
extern const Primitive window_argmax_p;
}

namespace spruce::cuda {

extern const Twin window_argmax_twin = {
    &window_argmax_p, [](const PrepareArgs& args) { return window_reduction(args, "ArgLargest"); }};

}  // namespace spruce::cuda
