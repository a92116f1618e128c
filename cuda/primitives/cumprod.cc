// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/scan.h"

namespace spruce::cuda {

extern const Twin cumprod_twin = {
    &cumprod_p, [](const PrepareArgs& args) { return scan(args, "RunningProduct"); }};

}  // namespace spruce::cuda
