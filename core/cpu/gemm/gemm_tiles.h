// SPDX-License-Identifier: Apache-2.0
// The innermost part of a matrix product: a tile of c that stays in registers.
#pragma once

#include <cstdint>

#include "spruce/core/cpu/simd.h"
#include "spruce/core/half.h"

namespace spruce::cpu {

/// What tiles read at once, T, in terms of a product.
template <class T>
struct GemmUnit {
  using Element = T;  ///< of the operands
  using Sum = T;
  static constexpr int64_t kTerms = 1;
};
/// Pairs of terms.
template <>
struct GemmUnit<simd::Bf16Pair> {
  using Element = Bfloat16;
  using Sum = float;
  static constexpr int64_t kTerms = 2;
};
template <class T>
using GemmSum = typename GemmUnit<T>::Sum;

/// Memory that tiles fetch into the caches while they compute, line by line: `runs` runs of `count`
/// lines that begin `jump` bytes apart. It remembers how far they came.
struct Ahead {
  static constexpr int64_t kLine = 64;
  const char *run = nullptr, *at = nullptr;
  int64_t jump = 0, count = 0, runs = 0, left = 0;

  Ahead() = default;
  Ahead(const void* from, int64_t bytes, int64_t jump_bytes, int64_t n)
      : run(static_cast<const char*>(from)), at(run), jump(jump_bytes), runs(n) {
    const auto first = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % kLine);
    count = left = (first + bytes + kLine - 1) / kLine;
  }
  bool done() const { return left == 0; }
  /// The end of a run.
  void turn() {
    if (--runs > 0) at = run += jump, left = count;
  }
};

/// c[i, j] (+)= sum over p of a[i * a_row + p * a_col] b[p * b_row + j], for the rows of one tile
/// and `columns` of its columns, which reach into the last vector; c is written where `add` is
/// false. One fused (or, on the baseline, two-step) multiply-add after the other in the order of p,
/// whatever the size of the tile: an element has the same bits in any of them. Nothing beyond the
/// columns is read or written. Lines of `ahead` are fetched on the way. Of pairs of bf16, k and the
/// strides count pairs.
template <class T>
using GemmTile = void (*)(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                          int64_t b_row, GemmSum<T>* c, int64_t c_row, bool add, int64_t columns,
                          Ahead& ahead);

/// The same for two whole vectors of columns; what is multiplied of b is also written to `to`, row
/// by row. Pairs are read where their terms stand in two rows of b, which are b_row / 2 apart.
template <class T>
using GemmCopyingTile = void (*)(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                                 int64_t b_row, GemmSum<T>* c, int64_t c_row, bool add, T* to,
                                 Ahead& ahead);

/// c[i * c_row] (+)= sum over p of a[i * a_row + p] x[p], for m rows: in lanes along p.
template <class T>
using GemmDots = void (*)(int64_t m, int64_t k, const T* a, int64_t a_row, const T* x,
                          GemmSum<T>* c, int64_t c_row, bool add);

/// to[i * to_row + j] = from[i * from_row + j].
template <class T>
using GemmCopy = void (*)(const T* from, int64_t from_row, int64_t rows, int64_t columns, T* to,
                          int64_t to_row);

/// A tile by [a_row is 1][the columns fill their vectors].
template <class T>
struct GemmTileForms {
  GemmTile<T> of[2][2];
};

/// The tiles of one instruction set: of 1 to `rows` rows and 1 or 2 vectors of `lanes` columns; of
/// few rows also 3 and 4 vectors.
template <class T>
struct GemmTiles {
  static constexpr int kMaxRows = 14;
  static constexpr int kFlatRows = 2;
  int rows;
  int lanes;
  GemmDots<T> dots;
  GemmCopy<T> copy;
  GemmTileForms<T> square[kMaxRows][2];     // [rows - 1][vectors - 1]
  GemmTileForms<T> flat[kFlatRows][2];      // [rows - 1][vectors - 3]
  GemmCopyingTile<T> copying[kMaxRows][2];  // [rows - 1][a_row is 1]
  GemmTile<T> reading[kMaxRows][2][2];  // [rows - 1][vectors - 1][a_row is 1]: units of two rows

  GemmTile<T> tile(int64_t high, int64_t columns, bool dense) const {
    const int64_t vectors = (columns + lanes - 1) / lanes;
    const GemmTileForms<T>& forms =
        vectors <= 2 ? square[high - 1][vectors - 1] : flat[high - 1][vectors - 3];
    return forms.of[dense ? 1 : 0][columns == vectors * lanes ? 1 : 0];
  }
  /// For a right operand that is read where it is, along its rows.
  GemmTile<T> in_place(int64_t high, int64_t columns, bool dense) const {
    if constexpr (GemmUnit<T>::kTerms == 1) return tile(high, columns, dense);
    return reading[high - 1][columns > lanes ? 1 : 0][dense ? 1 : 0];
  }
};

/// Those for this processor, for float and double; for pairs of bf16 (without `copy` and `flat`)
/// where has_bf16_tiles().
template <class T>
const GemmTiles<T>& gemm_tiles();
/// True if this processor multiplies pairs of bf16 and SPRUCE_ISA lets it.
bool has_bf16_tiles();
/// Rounds the sums of a tile of `rows` rows of up to 32 columns, to nearest and ties to even.
void round_tile(const float* sums, int64_t sums_row, int64_t rows, int64_t columns, Bfloat16* c,
                int64_t c_row);

}  // namespace spruce::cpu
