// SPDX-License-Identifier: Apache-2.0
// The innermost part of a convolution with one sample a lane: a tile of its output that stays in
// registers.
#pragma once

#include <cstdint>

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
  static constexpr int kMaxRows = 6, kMaxColumns = 5;
  int lanes;
  int registers;                            // a tile uses (rows + 1) * columns + 1
  LaneTile tile[2][kMaxRows][kMaxColumns];  // [a is the same for all lanes][rows - 1][columns - 1]

  /// The most rows of a tile with that many columns.
  int rows(int columns) const {
    const int fit = (registers - 1 - columns) / columns;
    return fit < 1 ? 1 : fit < kMaxRows ? fit : kMaxRows;
  }
};

/// Those for this processor.
const LaneTiles& lane_tiles();

}  // namespace spruce::cpu
