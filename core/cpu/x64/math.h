// SPDX-License-Identifier: Apache-2.0
// The functions of core/cpu/math as programs: the same steps in the same order, with a fused
// multiply-add, so that the results are the same to the last bit. f32, where nothing else is said.
#pragma once

#include "spruce/core/cpu/x64/builder.h"

namespace spruce::cpu::x64 {

V exp(V x);  // f32 and f64
V expm1(V x);
V log(V x);  // f32 and f64
V log1p(V x);
V tanh(V x);
V erf(V x);
V logistic(V x);  // f32 and f64
V silu(V x);      // f32 and f64
V softplus(V x);
V gelu_erf(V x);
V gelu_tanh(V x);
V sin(V x);
V cos(V x);

}  // namespace spruce::cpu::x64
