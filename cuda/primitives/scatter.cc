// SPDX-License-Identifier: Apache-2.0
#include "spruce/cuda/codegen/scatter.h"

namespace spruce::cuda {

extern const Twin scatter_twin = {&scatter_p,
                                  [](const PrepareArgs& args) { return scatter(args, ""); }};

}  // namespace spruce::cuda
