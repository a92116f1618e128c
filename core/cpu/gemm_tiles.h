// SPDX-License-Identifier: Apache-2.0
// The innermost part of a matrix product: a tile of c that stays in registers.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// c[i, j] (+)= sum over p of a[i * a_row + p * a_col] b[p * b_row + j], for the rows of one tile
/// and `columns` of its columns, which reach into the last vector; c is written where `add` is
/// false. One fused (or, on the baseline, two-step) multiply-add after the other in the order of p,
/// whatever the size of the tile: an element has the same bits in any of them. Nothing beyond the
/// columns is read or written.
template <class T>
using GemmTile = void (*)(int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
                          int64_t b_row, T* c, int64_t c_row, bool add, int64_t columns);

/// c[i * c_row] (+)= sum over p of a[i * a_row + p] x[p], for m rows: in lanes along p.
template <class T>
using GemmDots = void (*)(int64_t m, int64_t k, const T* a, int64_t a_row, const T* x, T* c,
                          int64_t c_row, bool add);

/// The tiles of one instruction set: of 1 to `rows` rows and 1 or 2 vectors of `lanes` columns; of
/// few rows also 3 and 4 vectors.
template <class T>
struct GemmTiles {
  static constexpr int kMaxRows = 14;
  static constexpr int kFlatRows = 2;
  int rows;
  int lanes;
  GemmDots<T> dots;
  GemmTile<T> square[kMaxRows][2][2];  // [rows - 1][vectors - 1][a_row is 1]
  GemmTile<T> flat[kFlatRows][2][2];   // [rows - 1][vectors - 3][a_row is 1]

  GemmTile<T> tile(int64_t high, int64_t vectors, bool dense) const {
    return vectors <= 2 ? square[high - 1][vectors - 1][dense ? 1 : 0]
                        : flat[high - 1][vectors - 3][dense ? 1 : 0];
  }
};

/// Those for this processor, for float and double.
template <class T>
const GemmTiles<T>& gemm_tiles();

}  // namespace spruce::cpu
