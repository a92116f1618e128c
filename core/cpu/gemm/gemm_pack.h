// SPDX-License-Identifier: Apache-2.0
// Operands of a product gathered into the order in which its tiles read them.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/simd.h"
#include "spruce/core/half.h"

namespace spruce::cpu {

/// to[p * width + j] = from[j * step_j + p * step_p], for p < k and j < count <= width. What lies
/// beyond `count` in a row is not touched.
template <class T>
void gemm_pack(const T* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, T* to);

/// The same for terms of bf16 by pairs, terms 2p and 2p + 1 in to[p * width + j], of any number of
/// columns, in panels of `width` <= 32 that begin `panel` pairs apart (up to `width` columns: in
/// one). k counts terms; an odd last one stands beside a zero. For processors with
/// has_bf16_tiles().
void gemm_pack(const Bfloat16* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, simd::Bf16Pair* to, int64_t panel = 0);

}  // namespace spruce::cpu
