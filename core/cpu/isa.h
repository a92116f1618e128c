// SPDX-License-Identifier: Apache-2.0
// Which of the loops compiled for several instruction sets this processor runs.
#pragma once

#include "spruce/core/cpu/targets.h"
#include "spruce/core/math/isa.h"

namespace spruce::cpu {

/// Instruction sets in rising order: baseline, AVX2 with FMA, AVX-512 (F, BW, DQ, VL).
enum class IsaLevel : int {
  kBase = 0,  ///< what every processor of the architecture has
  kV3 = 3,    ///< x86-64-v3
  kV4 = 4     ///< x86-64-v4
};

/// The highest level of this processor, or a lower one that SPRUCE_ISA=base|v3|v4 asks for. Fixed
/// for the process.
IsaLevel isa_level();

/// The one of three variants of a loop that fits this processor.
template <class F>
F pick(F base, F v3, F v4) {
  const IsaLevel level = isa_level();
  return level == IsaLevel::kV4 ? v4 : level == IsaLevel::kV3 ? v3 : base;
}

}  // namespace spruce::cpu
