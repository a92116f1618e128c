// SPDX-License-Identifier: Apache-2.0
// Sums of rows in registers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/row_copy.h"
#include "spruce/core/half.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kMostBytes = 4096;   // of a row that are asked for
constexpr int64_t kBytesAhead = 8192;  // twice what copies take: nothing is stored in between

SPRUCE_INLINE float widened(float x) { return x; }
SPRUCE_INLINE float widened(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

template <class T>
struct Rows {
  // Asks for four rows; in the place of one of zeros for the first of all.
  SPRUCE_INLINE void ask_four(int64_t k) const {
    if (k + 4 > known) return;
    for (int64_t i = k; i < k + 4; ++i) {
      const auto* const memory =
          reinterpret_cast<const char*>(first + std::max<int64_t>(places[i], 0));
      __builtin_prefetch(memory);
      for (int64_t at = kLineBytes; at < bytes; at += kLineBytes) __builtin_prefetch(memory + at);
    }
  }

  const T* first;
  const int64_t* places;
  int64_t known, ahead, bytes;
};

// A number that the compiler does not know: sums that begin with it stay in registers, where GCC
// would fill arrays of zeros in memory, for each list, before it reads them.
SPRUCE_INLINE float unknown_zero() {
  float zero = 0;
  asm("" : "+m"(zero));
  return zero;
}

// kColumns columns from `column` on.
template <int kColumns, bool kWhole, class T>
SPRUCE_INLINE void columns(const Rows<T>& rows, int64_t count, int64_t column, float* to) {
  static constexpr T kZeros[kColumns] = {};
  float sum[kColumns];
  const float zero = unknown_zero();
  for (int j = 0; j < kColumns; ++j) sum[j] = zero;
  const bool asks = column == 0;  // later columns are asked for with the first ones
  const auto row = [&](int64_t k) __attribute__((always_inline)) {
    const int64_t place = rows.places[k];
    return kWhole || place >= 0 ? rows.first + place + column : kZeros;
  };
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    if (asks) rows.ask_four(k + rows.ahead);
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

// The same of whole rows of bf16, two elements at a time: each word of 32 bits holds the bits of
// both, and the sums are put in order at the end.
template <int kColumns>
SPRUCE_INLINE void pairs(const Rows<Bfloat16>& rows, int64_t count, int64_t column, float* to) {
  constexpr int kWords = kColumns / 2;
  constexpr bool kLowFirst = std::endian::native == std::endian::little;
  float low[kWords], high[kWords];
  const float zero = unknown_zero();
  for (int j = 0; j < kWords; ++j) low[j] = high[j] = zero;
  const auto word = [&](int64_t k, int j) __attribute__((always_inline)) {
    uint32_t bits;
    std::memcpy(&bits, rows.first + rows.places[k] + column + 2 * j, sizeof(bits));
    return bits;
  };
  const auto lower = [](uint32_t w) __attribute__((always_inline)) {
    return std::bit_cast<float>(w << 16);
  };
  const auto upper = [](uint32_t w) __attribute__((always_inline)) {
    return std::bit_cast<float>(w & 0xffff0000U);
  };
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    if (column == 0) rows.ask_four(k + rows.ahead);
    for (int j = 0; j < kWords; ++j) {
      const uint32_t a = word(k, j), b = word(k + 1, j), c = word(k + 2, j), d = word(k + 3, j);
      low[j] = low[j] + ((lower(a) + lower(b)) + (lower(c) + lower(d)));
      high[j] = high[j] + ((upper(a) + upper(b)) + (upper(c) + upper(d)));
    }
  }
  for (; k < count; ++k) {
    for (int j = 0; j < kWords; ++j) {
      low[j] = low[j] + lower(word(k, j));
      high[j] = high[j] + upper(word(k, j));
    }
  }
  for (int j = 0; j < kWords; ++j) {
    to[column + 2 * j] = kLowFirst ? low[j] : high[j];
    to[column + 2 * j + 1] = kLowFirst ? high[j] : low[j];
  }
}

template <int kWide, class T>
SPRUCE_INLINE void body(const RowCopy& all, int64_t lists, int64_t count, float* to) {
  const int64_t n = all.bytes / static_cast<int64_t>(sizeof(T));
  Rows<T> rows{reinterpret_cast<const T*>(all.from), all.places, all.known,
               rows_ahead(all.bytes, kBytesAhead), std::min(all.bytes, kMostBytes)};
  for (int64_t list = 0; list < lists; ++list) {
    int64_t j = 0;
    if (none_negative(rows.places, count)) {  // no row of zeros is among them
      for (; j + kWide <= n; j += kWide) {
        if constexpr (std::is_same_v<T, Bfloat16>)
          pairs<kWide>(rows, count, j, to);
        else
          columns<kWide, true>(rows, count, j, to);
      }
    }
    for (; j + 8 <= n; j += 8) columns<8, false>(rows, count, j, to);
    for (; j < n; ++j) columns<1, false>(rows, count, j, to);
    rows.places += count, rows.known -= count, to += n;
  }
}

template <class T>
struct Loops {
  using Loop = void (*)(const RowCopy&, int64_t, int64_t, float*);
  SPRUCE_TARGET_BASE static void base(const RowCopy& rows, int64_t lists, int64_t count,
                                      float* to) {
    body<16, T>(rows, lists, count, to);
  }
  SPRUCE_TARGET_V3 static void v3(const RowCopy& rows, int64_t lists, int64_t count, float* to) {
    body<64, T>(rows, lists, count, to);
  }
  SPRUCE_TARGET_V4 static void v4(const RowCopy& rows, int64_t lists, int64_t count, float* to) {
    body<64, T>(rows, lists, count, to);
  }
  static void run(const RowCopy& rows, int64_t lists, int64_t count, float* to) {
    static const Loop loop = pick<Loop>(&base, &v3, &v4);
    loop(rows, lists, count, to);
  }
};

}  // namespace

void sum_rows(const RowCopy& rows, int64_t lists, int64_t count, Dtype dtype, float* to) {
  if (dtype == Dtype::kFloat32)
    Loops<float>::run(rows, lists, count, to);
  else
    Loops<Bfloat16>::run(rows, lists, count, to);
}

}  // namespace spruce::cpu
