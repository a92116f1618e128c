// SPDX-License-Identifier: Apache-2.0
// What this folder gives to the rest of the library, where it was built with Xbyak.
#pragma once

#include <memory>

#include "spruce/core/cpu/fusion/stage.h"

namespace spruce::cpu::x64 {

/// make_stage_x64 for kV3 and kV4.
std::unique_ptr<const StageKernel> make_stage(const Stage& stage, IsaLevel level);

}  // namespace spruce::cpu::x64
