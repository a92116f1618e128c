// SPDX-License-Identifier: Apache-2.0
// Running sums of one dense row of integers: in vectors, and on several threads where it is long.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// y[i] = x[0] + ... + x[i] for i < n, modulo the range of the dtype: integers of 4 or 8 bytes.
void row_running_sum(const uint32_t* x, uint32_t* y, int64_t n);
void row_running_sum(const uint64_t* x, uint64_t* y, int64_t n);

}  // namespace spruce::cpu
