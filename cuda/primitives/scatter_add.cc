// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {

extern const Twin scatter_add_twin = {
    &scatter_add_p, [](const PrepareArgs& args) { return scatter(args, "sp::add"); }};

}  // namespace spruce::cuda
