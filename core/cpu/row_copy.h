// SPDX-License-Identifier: Apache-2.0
// Rows that lie anywhere in an array, copied one behind the other, or added up.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/targets.h"
#include "spruce/core/dtype.h"

namespace spruce::cpu {

/// Bytes that a processor loads at once.
inline constexpr int64_t kLineBytes = 64;
/// The most rows between the one that is worked on and the one whose memory is asked for.
inline constexpr int64_t kMostRowsAhead = 32;

/// The number of rows of `bytes` that make up `bytes_ahead`: those that the processor loads while
/// it works on others.
constexpr int64_t rows_ahead(int64_t bytes, int64_t bytes_ahead) {
  const int64_t rows = bytes_ahead / (bytes > 0 ? bytes : 1);
  return rows < 2 ? 2 : rows > kMostRowsAhead ? kMostRowsAhead : rows;
}

/// True if none of the places is negative.
inline bool none_negative(const int64_t* places, int64_t count) {
  int64_t lowest = 0;
  for (int64_t i = 0; i < count; ++i) lowest |= places[i];
  return lowest >= 0;
}

/// Rows of an array.
struct RowCopy {
  /// Row k, whose place is not negative.
  SPRUCE_INLINE const char* row(int64_t k) const { return from + places[k] * element_bytes; }
  /// Asks for the memory of row k, `lines` lines of it, if its place is known.
  SPRUCE_INLINE void ask(int64_t k, int64_t lines) const {
    if (k >= known || places[k] < 0) return;
    const char* const memory = row(k);
    for (int64_t i = 0; i < lines; ++i) __builtin_prefetch(memory + i * kLineBytes);
  }

  const char* from;       ///< the array
  const int64_t* places;  ///< by row: elements in front of it; negative: `otherwise`
  int64_t known;          ///< how many places are given: rows that are read next may be among them
  int64_t element_bytes;  ///< of one element
  int64_t bytes;          ///< of a row
  /// Rows that stand for those whose place is negative, each at the place that it is copied to;
  /// null for rows of zeros.
  const char* otherwise = nullptr;
};

/// Copies the first `count` rows to `to`, the beginning of each `step` bytes behind that of the one
/// before it.
void copy_rows(const RowCopy& rows, int64_t count, char* to, int64_t step);

/// The sums of `lists` lists of `count` rows each, f32 or bf16, one sum behind the other: with the
/// bits of the loop of reduce_sum.
void sum_rows(const RowCopy& rows, int64_t lists, int64_t count, Dtype dtype, float* to);

}  // namespace spruce::cpu
