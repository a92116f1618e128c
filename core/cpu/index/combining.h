// SPDX-License-Identifier: Apache-2.0
// How a scatter combines elements with their updates: the loops of each operation and type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "spruce/core/cpu/index/windows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/reduce/extremum.h"
#include "spruce/core/cpu/row_copy.h"
#include "spruce/core/scalar/wrapping.h"

// Only scatter.cc includes this: nothing of it is a symbol of the library.
namespace spruce::cpu::combining {
namespace {

struct Set {
  template <class T>
  static SPRUCE_INLINE T call(T, T update) {
    return update;
  }
};
struct Add {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return scalar::wrapping_add(a, b);
  }
};
struct Mul {
  template <class T>
  static SPRUCE_INLINE T call(T a, T b) {
    return scalar::wrapping_multiply(a, b);
  }
};
// NaN wins over every number. Which of two numbers is taken nobody could predict: these have no
// branch.
using Min = Smallest;
using Max = Largest;

// The type in which Op computes T: sums and products of integers wrap, so that both signs have the
// same bits.
template <class Op, class T>
constexpr auto computed_as() {
  constexpr bool wraps = std::is_same_v<Op, Add> || std::is_same_v<Op, Mul>;
  if constexpr (wraps && std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return std::make_unsigned_t<T>();
  else
    return T();
}

// Runs of elements that are changed: `count` of them, of n elements each.
struct Runs {
  const int64_t *to, *from;  // where each begins
  int64_t count, n;
  int64_t to_step, from_step;  // from element to element
  int64_t lines;               // of a run of the operand that are asked for early
};

// The loop of one operation on the elements of one type.
using Loop = void (*)(const Runs& runs, void* operand, const void* updates);
// Dense rows of the operand that are changed. The i-th is row to[i], which is changed by row i of
// the updates; or, if `from` is not null, the row at element to[i], by row from[i].
struct Rows {
  const int32_t *to, *from;
  int64_t count;
};
using RowLoop = void (*)(const Rows& rows, void* operand, const void* updates);

struct ElementSizes {
  int64_t operand, update;
};

constexpr int64_t kLeastWaiting = 8;

// Asks for what run i changes and reads.
SPRUCE_INLINE void ask_here(const Runs& r, int64_t i, const void* operand, const void* updates,
                            ElementSizes size) {
  if (i >= r.count) return;
  const int64_t bytes = r.lines * kLineBytes;
  if (r.to[i] != r.to[i - 1]) {
    const char* const x = static_cast<const char*>(operand) + r.to[i] * size.operand;
    for (int64_t k = 0; k < bytes; k += kLineBytes) __builtin_prefetch(x + k, 1);
  }
  if (r.from[i] == r.from[i - 1] + r.n) return;  // the processor sees that they follow each other
  const char* const u = static_cast<const char*>(updates) + r.from[i] * size.update;
  for (int64_t k = 0; k < bytes / size.operand * size.update; k += kLineBytes)
    __builtin_prefetch(u + k);
}

// The same as one function for all types: it is no small one.
__attribute__((noinline)) void ask(const Runs& r, int64_t i, const void* operand,
                                   const void* updates, ElementSizes size) {
  ask_here(r, i, operand, updates, size);
}

template <class Op, class T, class U>
struct Combine {
  static SPRUCE_INLINE void element(T& x, U u) { x = Op::call(x, static_cast<T>(u)); }

  static SPRUCE_INLINE void single(const Runs& r, T* x, const U* u) {
    constexpr int64_t kSinglesAhead = 24;
    const int64_t early = r.lines > 0 ? r.count - kSinglesAhead : 0;
    int64_t i = 0;
    for (; i < early; ++i) {
      __builtin_prefetch(x + r.to[i + kSinglesAhead], 1);
      element(x[r.to[i]], u[r.from[i]]);
    }
    for (; i < r.count; ++i) element(x[r.to[i]], u[r.from[i]]);
  }

  static constexpr int64_t kAhead = 16;
  static constexpr ElementSizes kSizes{sizeof(T), sizeof(U)};
  // The types and operations whose short rows have loops of their own: all that move or add four
  // bytes, and floats.
  static constexpr bool kExtremum = std::is_same_v<Op, Min> || std::is_same_v<Op, Max>;
  static constexpr bool kShortRows =
      !std::is_same_v<Op, Mul> && std::is_same_v<T, U> &&
      (std::is_floating_point_v<T> || (!kExtremum && sizeof(T) == 4 && std::is_unsigned_v<T>));
  // Sums of floats are what gradients are made of: of rows of at least kLeastWaiting elements those
  // of which some in a row change the same elements wait in registers.
  static constexpr bool kIsSum =
      std::is_same_v<Op, Add> && std::is_same_v<T, float> && std::is_same_v<U, float>;
  typedef float Eight __attribute__((vector_size(32)));

  // kBlocks blocks of columns of the runs begin..end, which change the same elements: these wait in
  // registers. A Block is a vector, or one element.
  template <class Block, int64_t kBlocks>
  static SPRUCE_INLINE void columns(const Runs& r, int64_t begin, int64_t end, int64_t column,
                                    float* x, const float* u) {
    constexpr int64_t kSize = sizeof(Block) / sizeof(float);
    float* const y = x + r.to[begin] + column;
    Block sum[kBlocks];
    for (int64_t j = 0; j < kBlocks; ++j) std::memcpy(&sum[j], y + j * kSize, sizeof(Block));
    for (int64_t i = begin; i < end; ++i) {
      if (column == 0) ask_here(r, i + kAhead, x, u, kSizes);
      const float* const v = u + r.from[i] + column;
      for (int64_t j = 0; j < kBlocks; ++j) {
        Block update;
        std::memcpy(&update, v + j * kSize, sizeof(Block));
        sum[j] += update;
      }
    }
    for (int64_t j = 0; j < kBlocks; ++j) std::memcpy(y + j * kSize, &sum[j], sizeof(Block));
  }

  // kN elements that lie side by side, by vectors of at most 16 bytes.
  template <int64_t kN>
  static SPRUCE_INLINE void row(T* x, const U* u) {
    if constexpr (kN == 1) {
      element(*x, *u);
    } else {
      constexpr int kWidth = kN >= 4 && sizeof(T) <= 4 ? 4 : 2;
      typedef T Wide __attribute__((vector_size(kWidth * sizeof(T))));
      Wide a, b;
      std::memcpy(&a, x, sizeof(a));
      std::memcpy(&b, u, sizeof(b));
      a = Op::call(a, b);
      std::memcpy(x, &a, sizeof(a));
      if constexpr (kN > kWidth) row<kN - kWidth>(x + kWidth, u + kWidth);
    }
  }
  template <int64_t kN>
  static SPRUCE_INLINE void rows_body(const Rows& r, void* operand, const void* updates) {
    T* const x = static_cast<T*>(operand);
    const U* const u = static_cast<const U*>(updates);
    const int32_t *const to = r.to, *const from = r.from;
    const int64_t count = r.count;
    if (from != nullptr) {
      for (int64_t i = 0; i < count; ++i) row<kN>(x + to[i], u + from[i] * kN);
      return;
    }
    int64_t i = 0;
    // The places of four are read before the first of them is changed: a store whose place the
    // processor does not know yet holds up the loads behind it.
    for (; i + 4 <= count; i += 4) {
      T *const a = x + to[i] * kN, *const b = x + to[i + 1] * kN, *const c = x + to[i + 2] * kN,
               *const d = x + to[i + 3] * kN;
      row<kN>(a, u + i * kN);
      row<kN>(b, u + (i + 1) * kN);
      row<kN>(c, u + (i + 2) * kN);
      row<kN>(d, u + (i + 3) * kN);
    }
    for (; i < count; ++i) row<kN>(x + to[i] * kN, u + i * kN);
  }
  template <int64_t kN>
  SPRUCE_TARGET_BASE static void rows_base(const Rows& r, void* operand, const void* updates) {
    rows_body<kN>(r, operand, updates);
  }
  template <int64_t kN>
  SPRUCE_TARGET_V3 static void rows_v3(const Rows& r, void* operand, const void* updates) {
    rows_body<kN>(r, operand, updates);
  }
  template <int64_t kN>
  static RowLoop best_rows() {
    if constexpr (kShortRows && kExtremum)
      return pick<RowLoop>(&rows_base<kN>, &rows_v3<kN>, &rows_v3<kN>);
    else
      return &rows_base<kN>;
  }
  // The loop of rows of n elements, null if they have none.
  static RowLoop rows_of(int64_t n) {
    const auto any = [n]<int64_t... kN>(std::integer_sequence<int64_t, kN...>) {
      RowLoop loop = nullptr;
      ((n == kN ? void(loop = best_rows<kN>()) : void()), ...);
      return loop;
    };
    if constexpr (kShortRows)
      return any(std::integer_sequence<int64_t, 1, 2, 3, 4, 6, 8, 16>());
    else
      return any(std::integer_sequence<int64_t, 1>());
  }

  static SPRUCE_INLINE void body(const Runs& r, void* operand, const void* updates) {
    T* const x = static_cast<T*>(operand);
    const U* const u = static_cast<const U*>(updates);
    const bool asks = r.lines > 0, dense = r.to_step == 1 && r.from_step == 1;
    if (r.n == 1) return single(r, x, u);
    const bool may_wait = kIsSum && dense && r.n >= kLeastWaiting;
    for (int64_t i = 1; asks && i < kAhead; ++i) ask(r, i, x, u, kSizes);
    for (int64_t i = 0; i < r.count; ++i) {
      if constexpr (kIsSum) {
        int64_t end = i + 1;
        while (may_wait && end < r.count && r.to[end] == r.to[i]) ++end;
        if (end > i + 1) {
          int64_t j = 0;
          for (; j + 64 <= r.n; j += 64) columns<Eight, 8>(r, i, end, j, x, u);
          for (; j + 8 <= r.n; j += 8) columns<Eight, 1>(r, i, end, j, x, u);
          for (; j < r.n; ++j) columns<float, 1>(r, i, end, j, x, u);
          i = end - 1;
          continue;
        }
      }
      if (asks) ask(r, i + kAhead, x, u, kSizes);
      T* const y = x + r.to[i];
      const U* const v = u + r.from[i];
      if (dense) {
        SPRUCE_INDEPENDENT
        for (int64_t j = 0; j < r.n; ++j) element(y[j], v[j]);
      } else {
        for (int64_t j = 0; j < r.n; ++j) element(y[j * r.to_step], v[j * r.from_step]);
      }
    }
  }
  SPRUCE_TARGET_BASE static void base(const Runs& r, void* operand, const void* updates) {
    body(r, operand, updates);
  }
  SPRUCE_TARGET_V3 static void v3(const Runs& r, void* operand, const void* updates) {
    body(r, operand, updates);
  }
  static Loop best() {
    constexpr bool kSumsHalves = std::is_same_v<Op, Add> && std::is_same_v<U, Bfloat16>;
    if constexpr (kSumsHalves || (kShortRows && std::is_floating_point_v<T>))
      return pick<Loop>(&base, &v3, &v3);
    else
      return &base;
  }
};

}  // namespace
}  // namespace spruce::cpu::combining
