// SPDX-License-Identifier: Apache-2.0
// Elements written several times, one behind the other.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// to[i, j] = from[i] for i < count and j < n, elements of one size.
using RepeatLoop = void (*)(const void* from, int64_t count, int64_t n, void* to);

/// The loop for elements of 1, 2, 4 or 8 bytes.
RepeatLoop repeat_loop(int64_t element_bytes);

}  // namespace spruce::cpu
