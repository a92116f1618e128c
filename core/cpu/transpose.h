// SPDX-License-Identifier: Apache-2.0
// Transposition of matrices in tiles.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// to[i * to_step + j] = from[j * from_step + i] for 0 <= i < rows, 0 <= j < columns; steps are in
/// elements.
using TransposeLoop = void (*)(const void* from, int64_t from_step, void* to, int64_t to_step,
                               int64_t rows, int64_t columns);

/// The loop for elements of 1, 2, 4 or 8 bytes.
TransposeLoop transpose_loop(int64_t element_bytes);

}  // namespace spruce::cpu
