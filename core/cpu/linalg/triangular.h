// SPDX-License-Identifier: Apache-2.0
// Triangular systems of f64.
#pragma once

#include <cstdint>

namespace spruce::cpu {

/// A triangular matrix: element (i, j) stands at a[i * row + j * column], and row or column is 1.
struct Triangle {
  const double* a;
  int64_t row, column;
  bool lower;  ///< of the elements as they are counted here
  bool unit;   ///< the diagonal counts as ones
};

/// b [n, k], dense, becomes the x with t x = b. `memory` has room for triangle_memory(n, k).
void solve_triangle(const Triangle& t, int64_t n, int64_t k, double* b, double* memory);
/// Numbers of f64 that it takes.
int64_t triangle_memory(int64_t n, int64_t k);

}  // namespace spruce::cpu
