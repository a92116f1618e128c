// SPDX-License-Identifier: Apache-2.0
// Short rows whose elements change places: many at a time, in the registers of a processor that has
// vectors with a permutation.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// The most bytes of a row, read or written, that are permuted in registers.
inline constexpr int64_t kPermutedBytes = 32;

/// Writes to[i * n + k] = from[i * step + order[k]] for i < count and k < n, elements of 1, 2, 4 or
/// 8 bytes. No order[k] is negative or as large as `step`.
void permute_rows(void* to, int64_t n, const void* from, int64_t step, const int32_t* order,
                  int64_t element_bytes, int64_t count);

}  // namespace spruce::cpu
