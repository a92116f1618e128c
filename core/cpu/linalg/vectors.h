// SPDX-License-Identifier: Apache-2.0
// Loops over vectors of f64, which decompositions are made of. They give the same bits on every
// instruction set.
#pragma once

#include <cmath>
#include <cstdint>

namespace spruce::cpu {

/// One set of loops. Vectors are dense and do not overlap.
struct VectorLoops {
  /// The sum of x[i] y[i].
  double (*dot)(const double* x, const double* y, int64_t n);
  /// y[i] += a x[i].
  void (*add_scaled)(double a, const double* x, double* y, int64_t n);
  /// y[i] -= the sum of factors[p * factor_step] x[p * x_step + i] over p < count: rows of x.
  void (*subtract_rows)(const double* factors, int64_t factor_step, const double* x, int64_t x_step,
                        int64_t count, double* y, int64_t n);
  /// sums[p] = the sum of x[p * x_step + i] y[i] for p < count: rows of x.
  void (*dot_rows)(const double* x, int64_t x_step, int64_t count, const double* y, int64_t n,
                   double* sums);
  /// y = S x for the symmetric S [n, n] of which `a` has the diagonal and what stands right of it.
  void (*symmetric_product)(const double* a, int64_t a_step, int64_t n, const double* x, double* y);
  /// x[i] *= a.
  void (*scale)(double a, double* x, int64_t n);
  /// For p < count, one after another, with (c, s) = rotations[2 p, 2 p + 1]: of the rows p and
  /// p + 1 of x, (x[i], y[i]) = (c x[i] - s y[i], s x[i] + c y[i]).
  void (*rotate_rows)(const double* rotations, int64_t count, double* x, int64_t x_step, int64_t n);
};

/// Sums of squares between these have lost nothing to underflow or overflow.
inline constexpr double kLeastSum = 0x1p-900, kMostSum = 0x1p1000;

/// std::hypot, without its care where that is not needed.
inline double length_of(double x, double y) {
  const double square = x * x + y * y;
  return square >= kLeastSum && square <= kMostSum ? std::sqrt(square) : std::hypot(x, y);
}

/// The loops for this processor.
const VectorLoops& vector_loops();

/// Of vectors whose loop takes less time than its call.
inline constexpr int64_t kShortVector = 4;

/// What the loop gives, also where vectors are short.
inline void add_scaled(const VectorLoops& v, double a, const double* x, double* y, int64_t n) {
  if (n > kShortVector) return v.add_scaled(a, x, y, n);
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}
inline void subtract_rows(const VectorLoops& v, const double* factors, int64_t factor_step,
                          const double* x, int64_t x_step, int64_t count, double* y, int64_t n) {
  if (n > kShortVector) return v.subtract_rows(factors, factor_step, x, x_step, count, y, n);
  for (int64_t i = 0; i < n; ++i) {
    double sum = y[i];
    for (int64_t p = 0; p < count; ++p) sum -= factors[p * factor_step] * x[p * x_step + i];
    y[i] = sum;
  }
}

}  // namespace spruce::cpu
