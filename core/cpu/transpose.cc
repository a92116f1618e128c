// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/transpose.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {
namespace {

template <class T, int kLanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kLanes * sizeof(T))));
};

// Row k of `r` takes lane groups from rows k and k ^ kDistance so that after all distances lane l
// of row k is lane k of row l.
template <int kDistance, class T, int kLanes, class Vector, int... kLane>
SPRUCE_INLINE void exchange(Vector* r, std::integer_sequence<int, kLane...>) {
  for (int k = 0; k < kLanes; ++k) {
    if ((k & kDistance) != 0) continue;
    const Vector a = r[k], b = r[k + kDistance];
    r[k] = __builtin_shufflevector(
        a, b, ((kLane & kDistance) == 0 ? kLane : kLanes + kLane - kDistance)...);
    r[k + kDistance] = __builtin_shufflevector(
        a, b, ((kLane & kDistance) == 0 ? kLane + kDistance : kLanes + kLane)...);
  }
}

// A kLanes x kLanes tile, through registers.
template <class T, int kLanes>
struct Tile {
  using Vector = typename VectorOf<T, kLanes>::type;

  static SPRUCE_INLINE void run(const T* from, int64_t from_step, T* to, int64_t to_step) {
    constexpr auto kIndex = std::make_integer_sequence<int, kLanes>{};
    Vector r[kLanes];
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k, from += from_step) std::memcpy(&r[k], from, sizeof(Vector));
    if constexpr (kLanes > 8) exchange<8, T, kLanes>(r, kIndex);
    if constexpr (kLanes > 4) exchange<4, T, kLanes>(r, kIndex);
    if constexpr (kLanes > 2) exchange<2, T, kLanes>(r, kIndex);
    exchange<1, T, kLanes>(r, kIndex);
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k, to += to_step) std::memcpy(to, &r[k], sizeof(Vector));
  }
};

// Few columns, or few rows, with their number known to the compiler; where kDense, they are all
// that their array has.
template <int kFew, bool kColumns, bool kDense, class T>
SPRUCE_INLINE void few_loop(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kFew; ++j) {
      if (kColumns)
        to[(kDense ? kFew : to_step) * i + j] = from[j * from_step + i];
      else
        to[j * to_step + i] = from[(kDense ? kFew : from_step) * i + j];
    }
  }
}

template <int kFew, bool kColumns, class T>
SPRUCE_INLINE void few(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if ((kColumns ? to_step : from_step) == kFew)
    few_loop<kFew, kColumns, true>(from, from_step, to, to_step, n);
  else
    few_loop<kFew, kColumns, false>(from, from_step, to, to_step, n);
}

template <bool kColumns, class T>
SPRUCE_INLINE bool few(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n,
                       int64_t count) {
  if (count == 1) return few<1, kColumns>(from, from_step, to, to_step, n), true;
  if (count == 2) return few<2, kColumns>(from, from_step, to, to_step, n), true;
  if (count == 3) return few<3, kColumns>(from, from_step, to, to_step, n), true;
  return false;
}

// Matrices that are smaller than the smallest tile.
template <class T>
struct Small {
  static SPRUCE_INLINE void body(const T* from, int64_t from_step, T* to, int64_t to_step,
                                 int64_t rows, int64_t columns) {
    if (few<true>(from, from_step, to, to_step, rows, columns)) return;
    if (few<false>(from, from_step, to, to_step, columns, rows)) return;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[i * to_step + j] = from[j * from_step + i];
    }
  }
  SPRUCE_TARGET_BASE static void base(const T* from, int64_t from_step, T* to, int64_t to_step,
                                      int64_t rows, int64_t columns) {
    body(from, from_step, to, to_step, rows, columns);
  }
  SPRUCE_TARGET_V3 static void v3(const T* from, int64_t from_step, T* to, int64_t to_step,
                                  int64_t rows, int64_t columns) {
    body(from, from_step, to, to_step, rows, columns);
  }
  static void run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows,
                  int64_t columns) {
    static const auto loop = pick(&base, &v3, &v3);
    loop(from, from_step, to, to_step, rows, columns);
  }
};

// Tiles walk along the rows of `to`, so that its lines are written whole; a strip of tiles reads
// kLanes elements, at best a line, of each row of `from`. The last tiles reach back over the ones
// before them. Smaller matrices have smaller tiles.
template <class T, int kLanes>
SPRUCE_INLINE void body(const void* from_v, int64_t from_step, void* to_v, int64_t to_step,
                        int64_t rows, int64_t columns) {
  const T* from = static_cast<const T*>(from_v);
  T* to = static_cast<T*>(to_v);
  if (rows < kLanes || columns < kLanes) {
    if constexpr (kLanes * sizeof(T) > 16)
      body<T, kLanes / 2>(from, from_step, to, to_step, rows, columns);
    else
      Small<T>::run(from, from_step, to, to_step, rows, columns);
    return;
  }
  for (int64_t i = 0; i < rows; i += kLanes) {
    i = std::min(i, rows - kLanes);
    for (int64_t j = 0; j < columns; j += kLanes) {
      j = std::min(j, columns - kLanes);
      Tile<T, kLanes>::run(from + j * from_step + i, from_step, to + i * to_step + j, to_step);
    }
  }
}

template <class T, int kBase, int kV3, int kV4>
struct Loops {
  SPRUCE_TARGET_BASE static void base(const void* from, int64_t from_step, void* to,
                                      int64_t to_step, int64_t rows, int64_t columns) {
    body<T, kBase>(from, from_step, to, to_step, rows, columns);
  }
  SPRUCE_TARGET_V3 static void v3(const void* from, int64_t from_step, void* to, int64_t to_step,
                                  int64_t rows, int64_t columns) {
    body<T, kV3>(from, from_step, to, to_step, rows, columns);
  }
  SPRUCE_TARGET_V4 static void v4(const void* from, int64_t from_step, void* to, int64_t to_step,
                                  int64_t rows, int64_t columns) {
    body<T, kV4>(from, from_step, to, to_step, rows, columns);
  }
  static TransposeLoop best() { return pick<TransposeLoop>(&base, &v3, &v4); }
};

}  // namespace

TransposeLoop transpose_loop(int64_t element_bytes) {
  static const TransposeLoop one = Loops<uint8_t, 8, 16, 16>::best(),
                             two = Loops<uint16_t, 8, 8, 16>::best(),
                             four = Loops<uint32_t, 4, 8, 16>::best(),
                             eight = Loops<uint64_t, 2, 4, 8>::best();
  return element_bytes == 1 ? one : element_bytes == 2 ? two : element_bytes == 4 ? four : eight;
}

}  // namespace spruce::cpu
