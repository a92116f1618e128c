// SPDX-License-Identifier: Apache-2.0
// Sums of rows in registers.
#include <algorithm>
#include <bit>

#include "spruce/core/cpu/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/row_copy.h"
#include "spruce/core/half.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kMostLines = 64;  // of a row that are asked for

SPRUCE_INLINE float widened(float x) { return x; }
SPRUCE_INLINE float widened(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

template <class T>
struct Rows {
  explicit Rows(const RowCopy& r)
      : rows(r),
        ahead(rows_ahead(r.bytes)),
        lines(std::min(kMostLines, ceil_div(r.bytes, kLineBytes))) {}
  // Null for a row of zeros.
  SPRUCE_INLINE const T* row(int64_t k) const {
    return rows.places[k] < 0 ? nullptr : reinterpret_cast<const T*>(rows.row(k));
  }

  RowCopy rows;
  int64_t ahead, lines;
};

// kColumns columns from `column` on; `first`: later rows have not been asked for.
template <int kColumns, class T>
SPRUCE_INLINE void columns(const Rows<T>& rows, int64_t count, int64_t column, bool first,
                           float* to) {
  static constexpr T kZeros[kColumns] = {};
  float sum[kColumns] = {};
  const auto row = [&](int64_t k) __attribute__((always_inline)) {
    if (first) rows.rows.ask(k + rows.ahead, rows.lines);
    const T* x = rows.row(k);
    return x == nullptr ? kZeros : x + column;
  };
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const T *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
    for (int j = 0; j < kColumns; ++j)
      sum[j] = sum[j] + ((widened(a[j]) + widened(b[j])) + (widened(c[j]) + widened(d[j])));
  }
  for (; k < count; ++k) {
    const T* a = row(k);
    for (int j = 0; j < kColumns; ++j) sum[j] = sum[j] + widened(a[j]);
  }
  for (int j = 0; j < kColumns; ++j) to[column + j] = sum[j];
}

template <int kWide, class T>
SPRUCE_INLINE void body(const RowCopy& r, int64_t count, float* to) {
  const Rows<T> rows(r);
  const int64_t n = r.bytes / static_cast<int64_t>(sizeof(T));
  int64_t j = 0;
  for (; j + kWide <= n; j += kWide) columns<kWide>(rows, count, j, j == 0, to);
  for (; j + 8 <= n; j += 8) columns<8>(rows, count, j, j == 0, to);
  for (; j < n; ++j) columns<1>(rows, count, j, j == 0, to);
}

template <class T>
struct Loops {
  using Loop = void (*)(const RowCopy&, int64_t, float*);
  static void base(const RowCopy& r, int64_t count, float* to) { body<32, T>(r, count, to); }
  SPRUCE_TARGET_V3 static void v3(const RowCopy& r, int64_t count, float* to) {
    body<64, T>(r, count, to);
  }
  SPRUCE_TARGET_V4 static void v4(const RowCopy& r, int64_t count, float* to) {
    body<64, T>(r, count, to);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v4); }
};

}  // namespace

void sum_rows(const RowCopy& rows, int64_t count, Dtype dtype, float* to) {
  static const auto floats = Loops<float>::best(), bfloats = Loops<Bfloat16>::best();
  (dtype == Dtype::kFloat32 ? floats : bfloats)(rows, count, to);
}

}  // namespace spruce::cpu
