// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/rules/reduce.h"
#include "spruce/cuda/codegen/scan.h"

namespace spruce::cuda {

extern const Twin cumsum_twin = {&cumsum_p,
                                 [](const PrepareArgs& args) { return scan(args, "RunningSum"); }};

}  // namespace spruce::cuda
