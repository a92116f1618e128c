// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/transpose.h"

#include <cstring>
#include <utility>

#include "spruce/core/cpu/isa.h"

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
    for (int k = 0; k < kLanes; ++k) std::memcpy(&r[k], from + k * from_step, sizeof(Vector));
    if constexpr (kLanes > 8) exchange<8, T, kLanes>(r, kIndex);
    if constexpr (kLanes > 4) exchange<4, T, kLanes>(r, kIndex);
    if constexpr (kLanes > 2) exchange<2, T, kLanes>(r, kIndex);
    exchange<1, T, kLanes>(r, kIndex);
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) std::memcpy(to + k * to_step, &r[k], sizeof(Vector));
  }
};

template <class T>
SPRUCE_INLINE void scalar_block(const T* from, int64_t from_step, T* to, int64_t to_step,
                                int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * to_step + j] = from[j * from_step + i];
  }
}

// Tiles walk along the rows of `to`, so that its lines are written whole; a strip of tiles reads
// kLanes elements, at best a line, of each row of `from`.
template <class T, int kLanes>
SPRUCE_INLINE void body(const void* from_v, int64_t from_step, void* to_v, int64_t to_step,
                        int64_t rows, int64_t columns) {
  const T* from = static_cast<const T*>(from_v);
  T* to = static_cast<T*>(to_v);
  const int64_t whole_rows = rows - rows % kLanes, whole_columns = columns - columns % kLanes;
  for (int64_t i = 0; i < whole_rows; i += kLanes) {
    for (int64_t j = 0; j < whole_columns; j += kLanes) {
      Tile<T, kLanes>::run(from + j * from_step + i, from_step, to + i * to_step + j, to_step);
    }
    scalar_block(from + whole_columns * from_step + i, from_step, to + i * to_step + whole_columns,
                 to_step, kLanes, columns - whole_columns);
  }
  scalar_block(from + whole_rows, from_step, to + whole_rows * to_step, to_step, rows - whole_rows,
               columns);
}

template <class T, int kBase, int kV3, int kV4>
struct Loops {
  static void base(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows,
                   int64_t columns) {
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
