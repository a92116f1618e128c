// SPDX-License-Identifier: Apache-2.0
// The error function of floats in AVX-512, whose permutations of registers make tables cheap.
#pragma once

#include "spruce/core/cpu/elementwise.h"

namespace spruce::cpu {

/// The loop for f32, or null where the processor lacks it.
UnaryLoop erf_by_table();

}  // namespace spruce::cpu
