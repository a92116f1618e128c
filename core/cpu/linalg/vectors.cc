// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/vectors.h"

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {
namespace {

constexpr int kLanes = 32;  // sums side by side

// The loops, each compiled for every instruction set by Levels below.
struct Dot {
  static SPRUCE_INLINE double call(const double* x, const double* y, int64_t n) {
    constexpr int kFew = 8;
    if (n <= kFew) {  // the same sums without those that stay zero
      double sums[kFew] = {};
      for (int64_t i = 0; i < n; ++i) sums[i] = x[i] * y[i];
      for (int half = kFew / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
      }
      return sums[0];
    }
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
};

struct AddScaled {
  static SPRUCE_INLINE void call(double a, const double* x, double* y, int64_t n) {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
};

struct SubtractRows {
  static SPRUCE_INLINE void call(const double* factors, int64_t factor_step, const double* x,
                                 int64_t x_step, int64_t count, double* y, int64_t n) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      piece<kLanes>(factors, factor_step, x + i, x_step, count, y + i);
    for (; i + 8 <= n; i += 8) piece<8>(factors, factor_step, x + i, x_step, count, y + i);
    for (; i < n; ++i) piece<1>(factors, factor_step, x + i, x_step, count, y + i);
  }

  // kWidth numbers of y in registers.
  template <int kWidth>
  static SPRUCE_INLINE void piece(const double* factors, int64_t factor_step, const double* x,
                                  int64_t x_step, int64_t count, double* y) {
    double sums[kWidth];
    for (int j = 0; j < kWidth; ++j) sums[j] = y[j];
    for (int64_t p = 0; p < count; ++p) {
      const double factor = factors[p * factor_step];
      for (int j = 0; j < kWidth; ++j) sums[j] -= factor * x[p * x_step + j];
    }
    for (int j = 0; j < kWidth; ++j) y[j] = sums[j];
  }
};

struct Scale {
  static SPRUCE_INLINE void call(double a, double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] *= a;
  }
};

struct Rotate {
  static SPRUCE_INLINE void call(double c, double s, double* x, double* y, int64_t n) {
    SPRUCE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const double a = x[i], b = y[i];
      x[i] = c * a - s * b;
      y[i] = s * a + c * b;
    }
  }
};

template <class Loop, class Result, class... Args>
struct Levels {
  SPRUCE_TARGET_BASE static Result base(Args... args) { return Loop::call(args...); }
  SPRUCE_TARGET_V3 static Result v3(Args... args) { return Loop::call(args...); }
  SPRUCE_TARGET_V4 static Result v4(Args... args) { return Loop::call(args...); }
};

// The loop for this processor.
template <class Loop, class Result, class... Args>
auto best(Result (*)(Args...)) {
  using L = Levels<Loop, Result, Args...>;
  return pick(&L::base, &L::v3, &L::v4);
}

}  // namespace

const VectorLoops& vector_loops() {
  static const VectorLoops loops = {best<Dot>(&Dot::call), best<AddScaled>(&AddScaled::call),
                                    best<SubtractRows>(&SubtractRows::call),
                                    best<Scale>(&Scale::call), best<Rotate>(&Rotate::call)};
  return loops;
}

}  // namespace spruce::cpu
