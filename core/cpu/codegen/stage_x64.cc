// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/stage.h"

#ifdef SPRUCE_HAS_XBYAK
#include "spruce/core/cpu/x64/make.h"
#endif

namespace spruce::cpu {

std::unique_ptr<const StageKernel> make_stage_x64([[maybe_unused]] const Stage& stage,
                                                  [[maybe_unused]] IsaLevel level) {
#ifdef SPRUCE_HAS_XBYAK
  if (level != IsaLevel::kBase) return x64::make_stage(stage, level);
#endif
  return nullptr;
}

}  // namespace spruce::cpu
