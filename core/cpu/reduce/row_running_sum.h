// SPDX-License-Identifier: Apache-2.0
// Running sums of dense rows of integers: in vectors, and on several threads.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// y[r, i] = x[r, 0] + ... + x[r, i] for r < rows and i < n, modulo the range of the dtype:
/// integers of 4 or 8 bytes; n > 0.
void row_running_sums(const uint32_t* x, uint32_t* y, int64_t rows, int64_t n);
void row_running_sums(const uint64_t* x, uint64_t* y, int64_t rows, int64_t n);

}  // namespace spruce::cpu
