// SPDX-License-Identifier: Apache-2.0
// Rotations of neighbouring rows, of which iterations for eigenvalues and singular values make
// vectors.
#pragma once

#include <array>
#include <cstdint>

#include "spruce/core/cpu/linalg/vectors.h"

namespace spruce::cpu {

/// Rotations of the rows of z [n, n], which are kept until there are enough of them to go through
/// z in pieces that stay in the cache. Without z there is nothing to do.
class Rotations {
 public:
  /// `memory`: rotation_memory(n) numbers.
  Rotations(const VectorLoops& v, double* z, int64_t n, double* memory)
      : v_(v), z_(z), n_(n), memory_(memory) {}

  /// Begins a sweep, whose rotations follow: of rows first and first + step, then from there on.
  void begin(int64_t first, int64_t step) {
    if (z_ == nullptr) return;
    if (count_ == kSweeps) apply();
    sweeps_[count_++] = {first, step, 0};
  }
  /// (x, y) of the two rows becomes (c x - s y, s x + c y).
  void add(double c, double s) {
    if (z_ == nullptr) return;
    Sweep& sweep = sweeps_[count_ - 1];
    double* to = memory_ + 2 * ((count_ - 1) * n_ + sweep.count++);
    to[0] = c, to[1] = s;
  }
  /// Does what is kept.
  void apply();

  /// Sweeps that are applied together.
  static constexpr int64_t kSweeps = 16;

 private:
  struct Sweep {
    int64_t first, step, count;
  };

  void apply_to(double* z, int64_t width) const;

  const VectorLoops& v_;
  double* z_;
  int64_t n_;
  double* memory_;
  std::array<Sweep, kSweeps> sweeps_;
  int64_t count_ = 0;
};

inline int64_t rotation_memory(int64_t n) { return 2 * Rotations::kSweeps * n; }

}  // namespace spruce::cpu
