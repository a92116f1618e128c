// SPDX-License-Identifier: Apache-2.0
// Our own product of matrices in floating point: blocked for the caches, on the registers of the
// processor at hand.
#pragma once

#include "spruce/core/cpu/gemm/gemm.h"

namespace spruce::cpu {

/// The product for float or double, of any strides; for Bfloat16, summed in f32 and without
/// `accumulate`, where has_bf16_tiles(). An element has the same bits however many threads there
/// are.
template <class T>
void gemm_blocked(const Gemm& g);
/// Bytes of workspace that it takes on the thread that calls it.
template <class T>
size_t gemm_blocked_workspace(const Gemm& g);

}  // namespace spruce::cpu
