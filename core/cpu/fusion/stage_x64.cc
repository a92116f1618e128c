// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/stage.h"

namespace spruce::cpu {

std::unique_ptr<const StageKernel> make_stage_x64(const Stage&, IsaLevel) { return nullptr; }

}  // namespace spruce::cpu
