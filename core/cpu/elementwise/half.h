// SPDX-License-Identifier: Apache-2.0
// Rows of 16-bit floats to f32 and back, by the processor's own instructions where it has them.
#pragma once

#include <cstdint>

#include "spruce/core/half.h"

namespace spruce::cpu {

void widen(const Float16* x, float* y, int64_t n);
void widen(const Bfloat16* x, float* y, int64_t n);
/// The bits of the conversion of one element: to nearest, ties to even; the NaN of f16 has the sign
/// of x and no other bits, that of bf16 the upper ones of x.
void narrow(const float* x, Float16* y, int64_t n);
void narrow(const float* x, Bfloat16* y, int64_t n);

}  // namespace spruce::cpu
