// SPDX-License-Identifier: Apache-2.0
// Sums of rows in registers.
#include <algorithm>

#include "spruce/core/cpu/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/row_copy.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kMostLines = 64;  // of a row that are asked for

struct Rows {
  explicit Rows(const RowCopy& r)
      : rows(r),
        ahead(rows_ahead(r.bytes)),
        lines(std::min(kMostLines, ceil_div(r.bytes, kLineBytes))) {}
  // Null for a row of zeros.
  SPRUCE_INLINE const float* row(int64_t k) const {
    return rows.places[k] < 0 ? nullptr : reinterpret_cast<const float*>(rows.row(k));
  }

  RowCopy rows;
  int64_t ahead, lines;
};

// kColumns columns from `column` on; `first`: later rows have not been asked for.
template <int kColumns>
SPRUCE_INLINE void columns(const Rows& rows, int64_t count, int64_t column, bool first, float* to) {
  static constexpr float kZeros[kColumns] = {};
  float sum[kColumns] = {};
  const auto row = [&](int64_t k) __attribute__((always_inline)) {
    if (first) rows.rows.ask(k + rows.ahead, rows.lines);
    const float* x = rows.row(k);
    return x == nullptr ? kZeros : x + column;
  };
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const float *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
    for (int j = 0; j < kColumns; ++j) sum[j] = sum[j] + ((a[j] + b[j]) + (c[j] + d[j]));
  }
  for (; k < count; ++k) {
    const float* a = row(k);
    for (int j = 0; j < kColumns; ++j) sum[j] = sum[j] + a[j];
  }
  for (int j = 0; j < kColumns; ++j) to[column + j] = sum[j];
}

template <int kWide>
SPRUCE_INLINE void body(const RowCopy& r, int64_t count, float* to) {
  const Rows rows(r);
  const int64_t n = r.bytes / static_cast<int64_t>(sizeof(float));
  int64_t j = 0;
  for (; j + kWide <= n; j += kWide) columns<kWide>(rows, count, j, j == 0, to);
  for (; j + 8 <= n; j += 8) columns<8>(rows, count, j, j == 0, to);
  for (; j < n; ++j) columns<1>(rows, count, j, j == 0, to);
}

struct Loops {
  using Loop = void (*)(const RowCopy&, int64_t, float*);
  static void base(const RowCopy& r, int64_t count, float* to) { body<32>(r, count, to); }
  SPRUCE_TARGET_V3 static void v3(const RowCopy& r, int64_t count, float* to) {
    body<64>(r, count, to);
  }
  SPRUCE_TARGET_V4 static void v4(const RowCopy& r, int64_t count, float* to) {
    body<64>(r, count, to);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v4); }
};

}  // namespace

void sum_rows(const RowCopy& rows, int64_t count, float* to) {
  static const Loops::Loop loop = Loops::best();
  loop(rows, count, to);
}

}  // namespace spruce::cpu
