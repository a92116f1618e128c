// SPDX-License-Identifier: Apache-2.0
// Elements written several times, one behind the other.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// to[i * n + j] = from[i * step] for i < count and j < n, elements of one size.
using RepeatLoop = void (*)(const void* from, int64_t step, int64_t count, int64_t n, void* to);

/// The loop for elements of 1, 2, 4 or 8 bytes.
RepeatLoop repeat_loop(int64_t element_bytes);

/// Writes a row of that many bytes `rows` times, at least once; it may stand at `to` already.
void repeat_row(const void* from, int64_t bytes, int64_t rows, void* to);

}  // namespace spruce::cpu
