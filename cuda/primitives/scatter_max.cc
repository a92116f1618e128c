// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {

extern const Twin scatter_max_twin = {
    &scatter_max_p, [](const PrepareArgs& args) { return scatter(args, "sp::greater"); }};

}  // namespace spruce::cuda
