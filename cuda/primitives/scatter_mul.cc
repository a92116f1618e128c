// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {

extern const Twin scatter_mul_twin = {
    &scatter_mul_p, [](const PrepareArgs& args) { return scatter(args, "sp::mul"); }};

}  // namespace spruce::cuda
