// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/row_copy.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/runs.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kMostLines = 16;  // of a row that are asked for; the processor goes on by itself
constexpr int64_t kBytesAhead = 4096;  // more delays what is stored
constexpr int64_t kMostInline = 2048;  // bytes of a row that are not left to memcpy

// A row as a few of the widest loads that fit; the last one reaches back over the one before it.
template <int kWidth>
SPRUCE_INLINE void copy_pieces(char* to, const char* from, int64_t bytes) {
  const int64_t last = bytes - kWidth;
  for (int64_t k = 0; k < last; k += kWidth) std::memcpy(to + k, from + k, kWidth);
  std::memcpy(to + last, from + last, kWidth);
}

template <int kWidest>
SPRUCE_INLINE void copy_row(char* to, const char* from, int64_t bytes) {
  if (bytes > kMostInline)
    copy_bytes(to, from, bytes);
  else if (bytes >= kWidest)
    copy_pieces<kWidest>(to, from, bytes);
  else if (bytes >= 16)
    copy_pieces<16>(to, from, bytes);
  else if (bytes >= 8)
    copy_pieces<8>(to, from, bytes);
  else if (bytes >= 4)
    copy_pieces<4>(to, from, bytes);
  else
    for (int64_t k = 0; k < bytes; ++k) to[k] = from[k];
}

// Rows of kBytes, each behind the other: so short that the processor has many of them on their way
// without being asked.
template <int kBytes>
SPRUCE_INLINE void copy_short(const RowCopy& rows, int64_t count, char* to) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * kBytes, rows.row(i), kBytes);
}

template <int... kBytes>
SPRUCE_INLINE bool copy_short_rows(const RowCopy& rows, int64_t count, char* to) {
  return ((rows.bytes == kBytes && (copy_short<kBytes>(rows, count, to), true)) || ...);
}

template <int kWidest>
SPRUCE_INLINE void body(RowCopy rows, int64_t count, char* to, int64_t step) {
  const int64_t bytes = rows.bytes, ahead = rows_ahead(bytes, kBytesAhead);
  if (bytes == step && bytes <= kLineBytes && none_negative(rows.places, count) &&
      copy_short_rows<3, 4, 6, 8, 12, 16, 24, 32, 48, 64>(rows, count, to))
    return;
  const int64_t lines = std::min(kMostLines, ceil_div(bytes, kLineBytes));
  for (int64_t i = 0; i < count; ++i, to += step) {
    rows.ask(i + ahead, lines);
    const char* const from = rows.places[i] >= 0         ? rows.row(i)
                             : rows.otherwise != nullptr ? rows.otherwise + i * step
                                                         : nullptr;
    if (from != nullptr)
      copy_row<kWidest>(to, from, bytes);
    else
      std::memset(to, 0, static_cast<size_t>(bytes));
  }
}

struct Loops {
  using Loop = void (*)(const RowCopy&, int64_t, char*, int64_t);
  SPRUCE_TARGET_BASE static void base(const RowCopy& rows, int64_t count, char* to, int64_t step) {
    body<16>(rows, count, to, step);
  }
  SPRUCE_TARGET_V3 static void v3(const RowCopy& rows, int64_t count, char* to, int64_t step) {
    body<32>(rows, count, to, step);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

}  // namespace

void copy_rows(const RowCopy& rows, int64_t count, char* to, int64_t step) {
  static const Loops::Loop loop = Loops::best();
  loop(rows, count, to, step);
}

}  // namespace spruce::cpu
