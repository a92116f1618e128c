// SPDX-License-Identifier: Apache-2.0
// Where elements and rows lie that a scatter changes, and which of them belong to one thread.
#pragma once

#include "spruce/core/cpu/index/windows.h"

namespace spruce::cpu {

/// One of 1, 2, 4, ... shares of the windows: those whose first element lies in its blocks of the
/// operand. All updates of an element are in the same share.
struct Share {
  int part = 0;
  int bits = 0;   ///< log2 of the number of shares
  int block = 0;  ///< log2 of the elements of a block

  /// The high bits of the product are as good as random.
  static constexpr uint32_t kMix = 0x9E3779B9u;

  bool whole() const { return bits == 0; }
  bool owns(int64_t place) const {
    const uint32_t mixed = static_cast<uint32_t>(place >> block) * kMix;
    return bits == 0 || static_cast<int>(mixed >> (32 - bits)) == part;
  }
};

/// How many positions are looked at together.
inline constexpr int64_t kElementBlock = 256;
/// Elements of memory for so many places: stores reach behind the last one.
inline constexpr int64_t kElementRoom = kElementBlock + 16;

/// True if the windows are single elements, or dense rows in the operand and, one after the other,
/// in the result, at vectors of one to three indices, i32 or (of one) i64, and places in an operand
/// of `numel` elements fit in 32 bits.
bool are_rows(const Windows& w, int64_t numel);

/// The places in the operand of the positions begin..end, at most kElementBlock; -1 for those that
/// are left out. For windows for which are_rows() is true.
void row_places(const Windows& w, int64_t begin, int64_t end, int32_t* places);

/// Those of `count` places that belong to the share and are not left out, in their order, and their
/// positions, that of the first being `first`; how many. Both outputs have room for kElementRoom.
int64_t keep_elements(const Share& share, const int32_t* places, int64_t count, int32_t first,
                      int32_t* to, int32_t* from);

}  // namespace spruce::cpu
