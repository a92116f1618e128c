// SPDX-License-Identifier: Apache-2.0
// The 16-bit floats in programs: they are held as f32 and rounded where the kernels of primitives
// round them.
#pragma once

#include "spruce/core/cpu/x64/builder.h"
#include "spruce/core/dtype.h"

namespace spruce::cpu::x64 {

/// Which NaNs there may be: those that come from computing with bf16 have a low half of zero.
enum class Nans : uint8_t { kComputed, kAny };

/// An f32 rounded to the nearest value of a 16-bit dtype, ties to even.
V round_to(Dtype half, V x, Nans nans = Nans::kComputed);

/// Floats from integers, i32 or u32 by `convert`, that round to bf16 as the integers do: to odd,
/// where f32 does not hold them.
V integers_to_odd(V x, V (*convert)(V));

/// The value that may be stored instead of `id`, because a store drops or rounds what is different.
int before_rounding(const Program& program, Dtype half, int id);

/// Removes what nothing needs.
void drop_unused(Program& program);

}  // namespace spruce::cpu::x64
