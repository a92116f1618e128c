// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/half.h"

#include "spruce/core/cpu/isa.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

template <class X, class Y>
SPRUCE_INLINE void convert(const X* x, Y* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(x[i]);
}

template <class X, class Y>
using Loop = void (*)(const X*, Y*, int64_t);

template <class X, class Y>
void base(const X* x, Y* y, int64_t n) {
  convert(x, y, n);
}
template <class X, class Y>
SPRUCE_TARGET_V3 void v3(const X* x, Y* y, int64_t n) {
  convert(x, y, n);
}
template <class X, class Y>
SPRUCE_TARGET_V4 void v4(const X* x, Y* y, int64_t n) {
  convert(x, y, n);
}

#if SPRUCE_HAS_X86_TARGETS
template <>
SPRUCE_TARGET_V3 void v3(const Float16* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
  convert(x + i, y + i, n - i);
}
template <>
SPRUCE_TARGET_V3 void v3(const float* x, Float16* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
  convert(x + i, y + i, n - i);
}
#endif

}  // namespace

void widen(const Float16* x, float* y, int64_t n) {
  static const auto loop = pick<Loop<Float16, float>>(&base, &v3, &v3);
  loop(x, y, n);
}

void widen(const Bfloat16* x, float* y, int64_t n) {
  static const auto loop = pick<Loop<Bfloat16, float>>(&base, &v3, &v4);
  loop(x, y, n);
}

void narrow(const float* x, Float16* y, int64_t n) {
  static const auto loop = pick<Loop<float, Float16>>(&base, &v3, &v3);
  loop(x, y, n);
}

void narrow(const float* x, Bfloat16* y, int64_t n) {
  static const auto loop = pick<Loop<float, Bfloat16>>(&base, &v3, &v4);
  loop(x, y, n);
}

}  // namespace spruce::cpu
