// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/rotations.h"

#include <algorithm>

#include "spruce/core/parallel.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kWidth = 64;  // numbers of all rows that stay in the cache for all sweeps

}  // namespace

void Rotations::apply() {
  if (z_ == nullptr) return;
  const int64_t pieces = (n_ + kWidth - 1) / kWidth;
  parallel_pieces(pieces, 2, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t column = piece * kWidth;
      apply_to(z_ + column, std::min(kWidth, n_ - column));
    }
  });
  count_ = 0;
}

void Rotations::apply_to(double* z, int64_t width) const {
  for (int64_t i = 0; i < count_; ++i) {
    const Sweep& sweep = sweeps_[i];
    v_.rotate_rows(memory_ + 2 * i * n_, sweep.count, z + sweep.first * n_, sweep.step * n_, width);
  }
}

}  // namespace spruce::cpu
