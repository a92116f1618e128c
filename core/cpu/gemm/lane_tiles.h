// SPDX-License-Identifier: Apache-2.0
// The innermost part of convolutions with samples, groups or features in the lanes: a tile of the
// output that stays in registers.
#pragma once

#include <cstdint>

#include "spruce/core/ceil_div.h"

namespace spruce::cpu {

/// The terms of a sum: `outer` runs of `inner` terms. A run begins at a_from[q] and x_from[q], and
/// its terms are a_step and x_step apart. All steps are in floats.
struct LaneSum {
  int64_t outer, inner;
  const int64_t *a_from, *x_from;
  int64_t a_step, x_step;
};

/// out[r * out_row + c * out_column + lane] (+)= sum over the terms of
/// a[r * a_row + lane] x[c * x_column + lane]; or of a[r * a_row], the same for all lanes. One
/// multiply-add after the other in the order of the terms.
using LaneTile = void (*)(const LaneSum& s, const float* a, int64_t a_row, const float* x,
                          int64_t x_column, float* out, int64_t out_row, int64_t out_column,
                          bool add);

struct LaneTiles {
  static constexpr int kMaxRows = 14, kMaxColumns = 5;
  int lanes;
  int registers;
  /// [a is the same for all lanes][rows - 1][columns - 1], null where the registers do not do.
  LaneTile tile[2][kMaxRows][kMaxColumns];

  /// The most rows of a tile with that many columns: it uses (rows + 1) * columns + 1 registers.
  static constexpr int fit(int registers, int columns) {
    const int most = (registers - 1 - columns) / columns;
    return most < 1 ? 1 : most < kMaxRows ? most : kMaxRows;
  }
  int rows(int columns) const { return fit(registers, columns); }
};

/// Those for this processor.
const LaneTiles& lane_tiles();

/// n, rounded up to whole vectors of the tiles, and the part of their lanes that n elements fill.
int64_t whole_vectors(int64_t n);
double filled(int64_t n);

/// The tile that reads least for what it computes, for a result of so many rows and columns, which
/// is cut into tiles of nearly that size.
struct LaneTileSize {
  int64_t rows = 1, columns = 1;
  double reuse = 0;  ///< multiply-adds for each vector that it reads

  LaneTileSize(int64_t all_rows, int64_t all_columns);
};

/// f(begin, size) for parts of 0..n of nearly the same size, at most `most`.
template <class F>
void evenly(int64_t n, int64_t most, const F& f) {
  const int64_t parts = ceil_div(n, most);
  for (int64_t i = 0; i < parts; ++i) f(i * n / parts, (i + 1) * n / parts - i * n / parts);
}

}  // namespace spruce::cpu
