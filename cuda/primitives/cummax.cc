// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/scan.h"

namespace spruce::cuda {

extern const Twin cummax_twin = {
    &cummax_p, [](const PrepareArgs& args) { return scan(args, "RunningLargest"); }};

}  // namespace spruce::cuda
