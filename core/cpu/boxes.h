// SPDX-License-Identifier: Apache-2.0
// Boxes of a few elements, so many at once that a loop sees one long row.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// What a box has: rows, and elements of each.
struct Box {
  int64_t rows, row;

  int64_t size() const { return rows * row; }
};

/// The elements from box to box, from row to row (where a box has one row, from box to box again)
/// and from one element to the next, of an array whose elements stand for several: 0 where they
/// repeat. Within a row it is 0 or 1.
struct BoxSteps {
  int64_t box, row, element;

  bool is_dense(Box b) const {
    return element == 1 && box == b.size() && (b.rows == 1 || row == b.row);
  }
  bool is_one() const { return box == 0 && row == 0 && element == 0; }
};

/// Writes `count` whole boxes, one behind the other, elements of 1, 2, 4 or 8 bytes.
void spread_boxes(const void* from, BoxSteps steps, Box box, int64_t element_bytes, int64_t count,
                  void* to);

}  // namespace spruce::cpu
