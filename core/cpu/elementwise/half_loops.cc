// SPDX-License-Identifier: Apache-2.0
// Loops over f16 and bf16 by those over floats, in pieces that stay in the first cache.
#include <algorithm>

#include "spruce/core/cpu/elementwise/elementwise.h"
#include "spruce/core/cpu/elementwise/half.h"

namespace spruce::cpu::internal {
namespace {

constexpr int64_t kPiece = 1024;  // elements

// What f wrote over `wide` becomes halves; other results are already where they belong.
template <class X, class Y>
void rounded(const float* wide, Y* y, int64_t n) {
  if constexpr (std::is_same_v<X, Y>) narrow(wide, y, n);
}
template <class X, class Y>
void* target(float* wide, Y* y) {
  if constexpr (std::is_same_v<X, Y>)
    return wide;
  else
    return y;
}

}  // namespace

template <class X, class Y>
void half_unary(const X* x, Y* y, int64_t n, UnaryLoop f) {
  alignas(64) float wide[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    widen(x + i, wide, count);
    f(wide, target<X>(wide, y + i), count);
    rounded<X>(wide, y + i, count);
  }
}

template <class X, class Y>
void half_binary(const X* a, const X* b, Y* y, int64_t n, int64_t a_step, int64_t b_step,
                 BinaryLoop f) {
  alignas(64) float wide_a[kPiece], wide_b[kPiece];
  const bool both = a_step != 0 && b_step != 0 && a == b;  // a power, or a sum with itself
  float* const to = a_step != 0 ? wide_a : wide_b;
  if (a_step == 0) widen(a, wide_a, 1);
  if (b_step == 0) widen(b, wide_b, 1);
  if (a_step == 0 && b_step == 0) {
    f(wide_a, wide_b, target<X>(to, y), 1, 0, 0);
    rounded<X>(to, y, 1);
    std::fill_n(y, n, *y);
    return;
  }
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    if (a_step != 0) widen(a + i, wide_a, count);
    if (b_step != 0 && !both) widen(b + i, wide_b, count);
    f(wide_a, both ? wide_a : wide_b, target<X>(to, y + i), count, a_step, b_step);
    rounded<X>(to, y + i, count);
  }
}

template void half_unary(const Float16*, Float16*, int64_t, UnaryLoop);
template void half_unary(const Float16*, bool*, int64_t, UnaryLoop);
template void half_unary(const Bfloat16*, Bfloat16*, int64_t, UnaryLoop);
template void half_unary(const Bfloat16*, bool*, int64_t, UnaryLoop);
template void half_binary(const Float16*, const Float16*, Float16*, int64_t, int64_t, int64_t,
                          BinaryLoop);
template void half_binary(const Float16*, const Float16*, bool*, int64_t, int64_t, int64_t,
                          BinaryLoop);
template void half_binary(const Bfloat16*, const Bfloat16*, Bfloat16*, int64_t, int64_t, int64_t,
                          BinaryLoop);
template void half_binary(const Bfloat16*, const Bfloat16*, bool*, int64_t, int64_t, int64_t,
                          BinaryLoop);

}  // namespace spruce::cpu::internal
