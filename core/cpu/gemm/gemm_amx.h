// SPDX-License-Identifier: Apache-2.0
// Products of bf16 on processors that multiply matrices (AMX).
#pragma once

#include <cstddef>

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu {

/// True if this processor, the system and SPRUCE_ISA let us, and the product is large enough.
bool takes_amx(const Gemm& g);
/// The product, summed in f32, of any strides and without `accumulate`. An element has the same
/// bits however many threads there are.
void gemm_amx(const Gemm& g);
/// Bytes of workspace that it takes on the thread that calls it.
size_t gemm_amx_workspace(const Gemm& g);

}  // namespace spruce::cpu
