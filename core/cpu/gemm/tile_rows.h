// SPDX-License-Identifier: Apache-2.0
// Pointers to the rows of a tile: more than there are registers.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {

/// Rows that one pointer reaches.
inline constexpr int kRowsOfBase = 7;

/// i * row for i < kRowsOfBase, where row3 and row5 are 3 * row and 5 * row: what one instruction
/// adds to a pointer.
SPRUCE_INLINE int64_t times(int i, int64_t row, int64_t row3, int64_t row5) {
  return i == 3 ? row3 : i == 5 ? row5 : i == 6 ? 2 * row3 : i * row;
}

}  // namespace spruce::cpu
