// SPDX-License-Identifier: Apache-2.0
// Integers of 32 bits, and bytes held as such, where it takes more than an instruction.
#pragma once

#include "spruce/core/cpu/x64/builder.h"
#include "spruce/core/dtype.h"

namespace spruce::cpu::x64 {

/// a / b rounded toward zero, or its remainder, i32 or u32: for a b of 0 -1 (all bits set), or a.
V division(Dtype dtype, V a, V b, bool remainder);

/// The f32 of a u32, rounded once.
V from_unsigned(V x);
/// The i32 of an f32 toward zero, saturating, NaN as 0.
V saturated(V x);
/// The same of an i8 or u8.
V saturated_to_byte(Dtype byte, V x);
/// The i8 or u8 that the lower bits of an integer are.
V wrapped_to_byte(Dtype byte, V x);

}  // namespace spruce::cpu::x64
