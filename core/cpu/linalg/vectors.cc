// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/vectors.h"

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {
namespace {

constexpr int kLanes = 32;  // sums side by side

SPRUCE_INLINE double dot_loop(const double* x, const double* y, int64_t n) {
  double sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) sums[j] += x[i + j] * y[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) sums[j] += x[i] * y[i];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

SPRUCE_INLINE void add_scaled_loop(double a, const double* x, double* y, int64_t n) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// kWidth numbers of y in registers.
template <int kWidth>
SPRUCE_INLINE void subtract_piece(const double* factors, int64_t factor_step, const double* x,
                                  int64_t x_step, int64_t count, double* y) {
  double sums[kWidth];
  for (int j = 0; j < kWidth; ++j) sums[j] = y[j];
  for (int64_t p = 0; p < count; ++p) {
    const double factor = factors[p * factor_step];
    for (int j = 0; j < kWidth; ++j) sums[j] -= factor * x[p * x_step + j];
  }
  for (int j = 0; j < kWidth; ++j) y[j] = sums[j];
}

SPRUCE_INLINE void subtract_rows_loop(const double* factors, int64_t factor_step, const double* x,
                                      int64_t x_step, int64_t count, double* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    subtract_piece<kLanes>(factors, factor_step, x + i, x_step, count, y + i);
  for (; i + 8 <= n; i += 8) subtract_piece<8>(factors, factor_step, x + i, x_step, count, y + i);
  for (; i < n; ++i) subtract_piece<1>(factors, factor_step, x + i, x_step, count, y + i);
}

SPRUCE_INLINE void scale_loop(double a, double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= a;
}

SPRUCE_INLINE void rotate_loop(double c, double s, double* x, double* y, int64_t n) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const double a = x[i], b = y[i];
    x[i] = c * a - s * b;
    y[i] = s * a + c * b;
  }
}

// A struct for each instruction set, whose functions expand the loops above.
struct Base {
  SPRUCE_TARGET_BASE static double dot(const double* x, const double* y, int64_t n) {
    return dot_loop(x, y, n);
  }
  SPRUCE_TARGET_BASE static void add_scaled(double a, const double* x, double* y, int64_t n) {
    add_scaled_loop(a, x, y, n);
  }
  SPRUCE_TARGET_BASE static void subtract_rows(const double* factors, int64_t factor_step,
                                               const double* x, int64_t x_step, int64_t count,
                                               double* y, int64_t n) {
    subtract_rows_loop(factors, factor_step, x, x_step, count, y, n);
  }
  SPRUCE_TARGET_BASE static void scale(double a, double* x, int64_t n) { scale_loop(a, x, n); }
  SPRUCE_TARGET_BASE static void rotate(double c, double s, double* x, double* y, int64_t n) {
    rotate_loop(c, s, x, y, n);
  }
};

template <class Level>
constexpr VectorLoops kLoops = {Level::dot, Level::add_scaled, Level::subtract_rows, Level::scale,
                                Level::rotate};

#if SPRUCE_HAS_X86_TARGETS

struct V3 {
  SPRUCE_TARGET_V3 static double dot(const double* x, const double* y, int64_t n) {
    return dot_loop(x, y, n);
  }
  SPRUCE_TARGET_V3 static void add_scaled(double a, const double* x, double* y, int64_t n) {
    add_scaled_loop(a, x, y, n);
  }
  SPRUCE_TARGET_V3 static void subtract_rows(const double* factors, int64_t factor_step,
                                             const double* x, int64_t x_step, int64_t count,
                                             double* y, int64_t n) {
    subtract_rows_loop(factors, factor_step, x, x_step, count, y, n);
  }
  SPRUCE_TARGET_V3 static void scale(double a, double* x, int64_t n) { scale_loop(a, x, n); }
  SPRUCE_TARGET_V3 static void rotate(double c, double s, double* x, double* y, int64_t n) {
    rotate_loop(c, s, x, y, n);
  }
};

struct V4 {
  SPRUCE_TARGET_V4 static double dot(const double* x, const double* y, int64_t n) {
    return dot_loop(x, y, n);
  }
  SPRUCE_TARGET_V4 static void add_scaled(double a, const double* x, double* y, int64_t n) {
    add_scaled_loop(a, x, y, n);
  }
  SPRUCE_TARGET_V4 static void subtract_rows(const double* factors, int64_t factor_step,
                                             const double* x, int64_t x_step, int64_t count,
                                             double* y, int64_t n) {
    subtract_rows_loop(factors, factor_step, x, x_step, count, y, n);
  }
  SPRUCE_TARGET_V4 static void scale(double a, double* x, int64_t n) { scale_loop(a, x, n); }
  SPRUCE_TARGET_V4 static void rotate(double c, double s, double* x, double* y, int64_t n) {
    rotate_loop(c, s, x, y, n);
  }
};

#endif

}  // namespace

const VectorLoops& vector_loops() {
#if SPRUCE_HAS_X86_TARGETS
  static const VectorLoops* const best = pick(&kLoops<Base>, &kLoops<V3>, &kLoops<V4>);
  return *best;
#else
  return kLoops<Base>;
#endif
}

}  // namespace spruce::cpu
