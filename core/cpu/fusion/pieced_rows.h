// SPDX-License-Identifier: Apache-2.0
// Rows of a value that stands in pieces, such as a roll or a padded array: read where they stand
// where they are in one piece, else put together in memory of the thread.
#pragma once

#include <span>
#include <vector>

#include "spruce/core/cpu/fusion/storage.h"
#include "spruce/core/fusion/pieces.h"

namespace spruce::cpu {

/// The axes of a space that a nest runs over; -1 for those that a value does not have.
struct NestAxes {
  int inner, row;
  const std::vector<int>& outer;
};

struct PiecedRows {
  /// Steps are in bytes, ranges in indices.
  struct Piece {
    Storage from;  ///< an input or a constant; its offset is that of index 0
    int64_t inner = 0, row = 0;
    int64_t first = 0, last = 1;          ///< elements of the row that the piece has
    int64_t first_row = 0, last_row = 1;  ///< rows that it has
    std::vector<int64_t> outer, first_outer, last_outer;  ///< by axis outside of rows
  };
  /// Elements [first, first + n) of the rows [row, row + rows).
  struct Block {
    const int64_t* outer;
    int64_t row, rows, first, n;
  };

  /// `storages` are those of the arrays, by value; an element has `size` bytes.
  PiecedRows(const fusion::Pieces& of_value, const std::vector<Storage>& storages,
             const NestAxes& axes, int64_t size);

  std::vector<Piece> pieces;
  int64_t size;        ///< bytes of an element
  bool dense = false;  ///< whether rows have to follow each other in memory
  size_t buffer = 0;   ///< bytes into the memory of the thread

  /// The element of index 0 of the row 0 of a piece; null where it has nothing of the outer axes.
  const char* start(const Piece& piece, const Block& block, std::span<const View> in) const;
  /// The first element of the block; rows are *row_step bytes apart, elements of a row neighbours.
  char* place(const Block& block, std::span<const View> in, char* thread, int64_t* row_step) const;
  /// Writes short rows of one array whose elements change places within a row to `to`; false where
  /// the block is none such.
  bool permute(const Block& block, std::span<const View> in, char* to) const;
  /// True if blocks of several rows, or of parts of rows, may have to be put together.
  bool needs_buffer(int64_t block_rows, int64_t n) const;
};

}  // namespace spruce::cpu
