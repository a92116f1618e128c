// SPDX-License-Identifier: Apache-2.0
// Elements that stand at equal steps, one behind the other.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// to[i] = from[i * step] for i < n, elements of one size; a step of 0 repeats, a negative one runs
/// backwards.
using StepsLoop = void (*)(const void* from, int64_t step, int64_t n, void* to);

/// The loop for elements of 1, 2, 4 or 8 bytes.
StepsLoop steps_loop(int64_t element_bytes);

}  // namespace spruce::cpu
