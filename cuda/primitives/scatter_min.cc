// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {

extern const Twin scatter_min_twin = {
    &scatter_min_p, [](const PrepareArgs& args) { return scatter(args, "sp::lesser"); }};

}  // namespace spruce::cuda
