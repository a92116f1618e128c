// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/fusion/short_rows.h"

#include "spruce/core/cpu/reduce/extremum.h"

namespace spruce::cpu {
namespace {

struct Sum {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return a + b;
  }
};
struct Product {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return a * b;
  }
};

template <class Op, class T>
struct Rows {
  static constexpr int64_t kTogether = 8;

  static SPRUCE_INLINE void body(const void* from, void* to, int64_t rows, int64_t n) {
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    int64_t r = 0;
    for (; r + kTogether <= rows; r += kTogether, x += kTogether * n) {
      T best[kTogether];
      for (int64_t l = 0; l < kTogether; ++l) best[l] = x[l * n];
      for (int64_t j = 1; j < n; ++j) {
        for (int64_t l = 0; l < kTogether; ++l) best[l] = Op::call(best[l], x[l * n + j]);
      }
      for (int64_t l = 0; l < kTogether; ++l) y[r + l] = best[l];
    }
    for (; r < rows; ++r, x += n) {
      T best = x[0];
      for (int64_t j = 1; j < n; ++j) best = Op::call(best, x[j]);
      y[r] = best;
    }
  }
  SPRUCE_TARGET_BASE static void base(const void* from, void* to, int64_t rows, int64_t n) {
    body(from, to, rows, n);
  }
  SPRUCE_TARGET_V3 static void v3(const void* from, void* to, int64_t rows, int64_t n) {
    body(from, to, rows, n);
  }
  static ShortRows best() {
    if constexpr (SPRUCE_HAS_X86_TARGETS == 0)
      return &base;
    else
      return pick<ShortRows>(&base, &v3, &v3);
  }
};

template <class T>
ShortRows rows_of(Stage::Kind kind) {
  switch (kind) {
    case Stage::Kind::kSum:
      return Rows<Sum, T>::best();
    case Stage::Kind::kMax:
      return Rows<Largest, T>::best();
    case Stage::Kind::kMin:
      return Rows<Smallest, T>::best();
    default:
      return Rows<Product, T>::best();
  }
}

}  // namespace

ShortRows short_rows(Stage::Kind kind, Dtype dtype) {
  if (dtype == Dtype::kFloat32) return rows_of<float>(kind);
  return dtype == Dtype::kFloat64 ? rows_of<double>(kind) : nullptr;
}

}  // namespace spruce::cpu
