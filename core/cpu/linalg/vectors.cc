// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/linalg/vectors.h"

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/targets.h"

namespace spruce::cpu {
namespace {

// Eight numbers of a vector. Arrays of these stay in registers, other than arrays of double.
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));
// As an argument of templates, which would lose the attributes of a type.
struct Eights {
  using Type = Eight;
};
struct Ones {
  using Type = double;
};

SPRUCE_INLINE const Eight& eight(const double* x, int64_t i) {
  return reinterpret_cast<const Eight*>(x)[i];
}

SPRUCE_INLINE double sum_of(const Eight& x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// The loops, each compiled for every instruction set by Levels below.
struct Dot {
  static SPRUCE_INLINE double call(const double* x, const double* y, int64_t n) {
    Eight sums[4] = {};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
      for (int j = 0; j < 4; ++j) sums[j] += eight(x + i, j) * eight(y + i, j);
    }
    for (; i + 8 <= n; i += 8) sums[0] += eight(x + i, 0) * eight(y + i, 0);
    double rest = 0;
    for (; i < n; ++i) rest += x[i] * y[i];
    if (n < 8) return rest;
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return sum_of(sums[0]) + rest;
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
    for (; i + 32 <= n; i += 32)
      piece<Eights, 4>(factors, factor_step, x + i, x_step, count, y + i);
    for (; i + 8 <= n; i += 8) piece<Eights, 1>(factors, factor_step, x + i, x_step, count, y + i);
    for (; i < n; ++i) piece<Ones, 1>(factors, factor_step, x + i, x_step, count, y + i);
  }

  // kParts vectors of y in registers.
  template <class Of, int kParts>
  static SPRUCE_INLINE void piece(const double* factors, int64_t factor_step, const double* x,
                                  int64_t x_step, int64_t count, double* y) {
    using V = typename Of::Type;
    V sums[kParts];
    for (int j = 0; j < kParts; ++j) sums[j] = reinterpret_cast<const V*>(y)[j];
    for (int64_t p = 0; p < count; ++p) {
      const V* row = reinterpret_cast<const V*>(x + p * x_step);
      for (int j = 0; j < kParts; ++j) sums[j] -= factors[p * factor_step] * row[j];
    }
    for (int j = 0; j < kParts; ++j) reinterpret_cast<V*>(y)[j] = sums[j];
  }
};

struct DotRows {
  static SPRUCE_INLINE void call(const double* x, int64_t x_step, int64_t count, const double* y,
                                 int64_t n, double* sums) {
    int64_t p = 0;
    for (; p + 4 <= count; p += 4) piece<4>(x + p * x_step, x_step, y, n, sums + p);
    for (; p < count; ++p) piece<1>(x + p * x_step, x_step, y, n, sums + p);
  }

  // kRows sums side by side.
  template <int kRows>
  static SPRUCE_INLINE void piece(const double* x, int64_t x_step, const double* y, int64_t n,
                                  double* to) {
    Eight sums[kRows] = {};
    double rest[kRows] = {};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      for (int r = 0; r < kRows; ++r) sums[r] += eight(x + r * x_step + i, 0) * eight(y + i, 0);
    }
    for (; i < n; ++i) {
      for (int r = 0; r < kRows; ++r) rest[r] += x[r * x_step + i] * y[i];
    }
    for (int r = 0; r < kRows; ++r) to[r] = n < 8 ? rest[r] : sum_of(sums[r]) + rest[r];
  }
};

struct SymmetricProduct {
  static SPRUCE_INLINE void call(const double* a, int64_t a_step, int64_t n, const double* x,
                                 double* y) {
    for (int64_t i = 0; i < n; ++i) y[i] = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double* row = a + i * a_step;
      const double xi = x[i];
      Eight sums = {};
      double rest = row[i] * xi;
      int64_t k = i + 1;
      for (; k + 8 <= n; k += 8) {
        const Eight part = eight(row + k, 0);
        sums += part * eight(x + k, 0);
        reinterpret_cast<Eight*>(y + k)[0] += xi * part;
      }
      for (; k < n; ++k) {
        rest += row[k] * x[k];
        y[k] += xi * row[k];
      }
      y[i] += n - i < 9 ? rest : sum_of(sums) + rest;
    }
  }
};

struct Scale {
  static SPRUCE_INLINE void call(double a, double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] *= a;
  }
};

struct RotateRows {
  static SPRUCE_INLINE void call(const double* rotations, int64_t count, double* x, int64_t x_step,
                                 int64_t n) {
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) piece<Eights, 4>(rotations, count, x + i, x_step);
    for (; i + 8 <= n; i += 8) piece<Eights, 1>(rotations, count, x + i, x_step);
    for (; i < n; ++i) piece<Ones, 1>(rotations, count, x + i, x_step);
  }

  // kParts vectors of every row; what each rotation leaves in its second row stays in registers.
  template <class Of, int kParts>
  static SPRUCE_INLINE void piece(const double* rotations, int64_t count, double* x,
                                  int64_t x_step) {
    using V = typename Of::Type;
    V first[kParts];
    for (int j = 0; j < kParts; ++j) first[j] = reinterpret_cast<const V*>(x)[j];
    for (int64_t p = 0; p < count; ++p) {
      const double c = rotations[2 * p], s = rotations[2 * p + 1];
      V* to = reinterpret_cast<V*>(x);
      x += x_step;
      for (int j = 0; j < kParts; ++j) {
        const V second = reinterpret_cast<const V*>(x)[j];
        to[j] = c * first[j] - s * second;
        first[j] = s * first[j] + c * second;
      }
    }
    for (int j = 0; j < kParts; ++j) reinterpret_cast<V*>(x)[j] = first[j];
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
  static const VectorLoops loops = {best<Dot>(&Dot::call),
                                    best<AddScaled>(&AddScaled::call),
                                    best<SubtractRows>(&SubtractRows::call),
                                    best<DotRows>(&DotRows::call),
                                    best<SymmetricProduct>(&SymmetricProduct::call),
                                    best<Scale>(&Scale::call),
                                    best<RotateRows>(&RotateRows::call)};
  return loops;
}

}  // namespace spruce::cpu
