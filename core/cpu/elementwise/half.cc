// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/elementwise/half.h"

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
SPRUCE_TARGET_BASE void base(const X* x, Y* y, int64_t n) {
  convert(x, y, n);
}
template <class X, class Y>
SPRUCE_TARGET_V3 void v3(const X* x, Y* y, int64_t n) {
  convert(x, y, n);
}

#if SPRUCE_HAS_X86_TARGETS

SPRUCE_TARGET_V3 SPRUCE_INLINE __m256 widened(__m128i x) { return _mm256_cvtph_ps(x); }
SPRUCE_TARGET_V3 SPRUCE_INLINE __m128i rounded(__m256 x) {
  const __m256 nan = _mm256_or_ps(_mm256_and_ps(x, _mm256_set1_ps(-0.0f)),
                                  _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)));
  return _mm256_cvtps_ph(_mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)),
                         _MM_FROUND_TO_NEAREST_INT);
}

template <>
SPRUCE_TARGET_V3 void v3(const Float16* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, widened(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < n; ++i) y[i] = _mm256_cvtss_f32(widened(_mm_cvtsi32_si128(x[i].bits)));
}
template <>
SPRUCE_TARGET_V3 void v3(const float* x, Float16* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), rounded(_mm256_loadu_ps(x + i)));
  convert(x + i, y + i, n - i);
}

// Headers of g++ 12 warn of the forms without a mask.
constexpr __mmask16 kAll = 0xffff;

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 widened(__m256i x, Float16) {
  return _mm512_maskz_cvtph_ps(kAll, x);
}
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 widened(__m256i x, Bfloat16) {
  return _mm512_castsi512_ps(
      _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, x), 16));
}
SPRUCE_TARGET_V4 SPRUCE_INLINE __m256i rounded(__m512 x, Float16) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  constexpr int kFirstAndSecondOrThird = 0xea;
  const __m512i whole =
      _mm512_mask_ternarylogic_epi32(bits, nan, _mm512_set1_epi32(INT32_MIN),
                                     _mm512_set1_epi32(0x7fc00000), kFirstAndSecondOrThird);
  return _mm512_maskz_cvtps_ph(kAll, _mm512_castsi512_ps(whole), _MM_FROUND_TO_NEAREST_INT);
}
SPRUCE_TARGET_V4 SPRUCE_INLINE __m256i rounded(__m512 x, Bfloat16) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i odd =
      _mm512_maskz_and_epi32(kAll, _mm512_maskz_srli_epi32(kAll, bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __m512i whole = _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
  return _mm512_maskz_cvtepi32_epi16(kAll, _mm512_maskz_srli_epi32(kAll, whole, 16));
}
SPRUCE_TARGET_V4 SPRUCE_INLINE __mmask16 first(int64_t n) {
  return static_cast<__mmask16>((1u << n) - 1);
}

template <class X>
SPRUCE_TARGET_V4 void v4(const X* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(y + i,
                     widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)), X{}));
  }
  if (i == n) return;
  const __mmask16 rest = first(n - i);
  _mm512_mask_storeu_ps(y + i, rest, widened(_mm256_maskz_loadu_epi16(rest, x + i), X{}));
}
template <class Y>
SPRUCE_TARGET_V4 void v4(const float* x, Y* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), rounded(_mm512_loadu_ps(x + i), Y{}));
  }
  if (i == n) return;
  const __mmask16 rest = first(n - i);
  _mm256_mask_storeu_epi16(y + i, rest, rounded(_mm512_maskz_loadu_ps(rest, x + i), Y{}));
}

#endif

template <class X, class Y>
Loop<X, Y> best() {
#if SPRUCE_HAS_X86_TARGETS
  return pick<Loop<X, Y>>(&base, &v3, &v4);
#else
  return &base;
#endif
}

}  // namespace

void widen(const Float16* x, float* y, int64_t n) {
  static const auto loop = best<Float16, float>();
  loop(x, y, n);
}

void widen(const Bfloat16* x, float* y, int64_t n) {
  static const auto loop = best<Bfloat16, float>();
  loop(x, y, n);
}

void narrow(const float* x, Float16* y, int64_t n) {
  static const auto loop = best<float, Float16>();
  loop(x, y, n);
}

void narrow(const float* x, Bfloat16* y, int64_t n) {
  static const auto loop = best<float, Bfloat16>();
  loop(x, y, n);
}

}  // namespace spruce::cpu
