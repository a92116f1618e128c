// SPDX-License-Identifier: Apache-2.0
// Operands of a product gathered into the order in which its tiles read them.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// to[p * width + j] = from[j * step_j + p * step_p], for p < k and j < count <= width. What lies
/// beyond `count` in a row is not touched.
template <class T>
void gemm_pack(const T* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, T* to);

}  // namespace spruce::cpu
