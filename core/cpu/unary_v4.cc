// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/unary_v4.h"

#include <cstdint>
#include <iterator>

#include "spruce/core/cpu/math/coefficients.h"
#include "spruce/core/cpu/math/erf_table.h"
#include "spruce/core/cpu/math/isa.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

#if SPRUCE_HAS_X86_TARGETS

// Headers of g++ 12 warn of the forms without a mask.
constexpr __mmask16 kAll = 0xffff;

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 all(float x) { return _mm512_set1_ps(x); }

// The first operand gives way to one that is not a number.
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 smaller(__m512 a, __m512 b) {
  return _mm512_maskz_min_ps(kAll, a, b);
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 magnitude(__m512 x) {
  return _mm512_andnot_ps(all(-0.0f), x);
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 with_sign(__m512 y, __m512 x) {
  constexpr int kFirstOrSecondAndThird = 0xf8;
  return _mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(_mm512_castps_si512(y), _mm512_castps_si512(x),
                                _mm512_set1_epi32(INT32_MIN), kFirstOrSecondAndThird));
}

// x = n ln(2) + r.
struct Reduced {
  __m512 n, r;
};

SPRUCE_TARGET_V4 SPRUCE_INLINE Reduced reduce_ln2(__m512 x) {
  const __m512 magic = all(math::kRoundMagic);
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, all(0x1.715476p0f), magic), magic);
  const __m512 r = _mm512_fnmadd_ps(n, all(0x1.62e4p-1f), x);
  return {n, _mm512_fnmadd_ps(n, all(0x1.7f7d1cp-20f), r)};
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 expm1_small(__m512 r) {
  constexpr int kLast = static_cast<int>(std::size(math::kExp)) - 1;
  __m512 p = all(math::kExp[kLast]);
#pragma GCC unroll 8
  for (int k = kLast - 1; k >= 0; --k) p = _mm512_fmadd_ps(p, r, all(math::kExp[k]));
  return _mm512_fmadd_ps(_mm512_mul_ps(r, r), p, r);
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 exp16(__m512 x) {
  // Lanes that round to zero are left out: an underflow costs hundreds of cycles.
  const __mmask16 some = _mm512_cmp_ps_mask(x, all(-0x1.9fe368p6f), _CMP_NLT_UQ);
  const Reduced e = reduce_ln2(smaller(all(89), x));
  return _mm512_maskz_scalef_ps(some, _mm512_add_ps(expm1_small(e.r), all(1)), e.n);
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 logistic16(__m512 x) {
  const __m512 e = exp16(_mm512_or_ps(x, all(-0.0f)));
  const __mmask16 below = _mm512_cmp_ps_mask(x, all(0), _CMP_LT_OQ);
  return _mm512_div_ps(_mm512_mask_blend_ps(below, all(1), e), _mm512_add_ps(all(1), e));
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 silu16(__m512 x) { return _mm512_mul_ps(x, logistic16(x)); }

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 tanh16(__m512 x) {
  const __m512 a = magnitude(x);
  const Reduced e = reduce_ln2(smaller(all(20), _mm512_add_ps(a, a)));
  const __m512 s = _mm512_maskz_scalef_ps(kAll, all(1), e.n);
  const __m512 t = _mm512_fmadd_ps(s, expm1_small(e.r), _mm512_sub_ps(s, all(1)));
  const __m512 y = with_sign(_mm512_div_ps(t, _mm512_add_ps(t, all(2))), x);
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, all(0x1p-13f), _CMP_LT_OQ), y, x);
}

// |x| erf(a) / a with a limited to where erf is 1, and then at most 1, with the sign of x.
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 erf16(__m512 x) {
  const __m512 magic = all(0x1p20f), whole = magnitude(x), a = smaller(all(3.93f), whole);
  const __m512 shifted = _mm512_add_ps(a, magic);  // its low bits are the nearest eighth
  const __m512 t = _mm512_sub_ps(a, _mm512_sub_ps(shifted, magic));
  const __m512i piece = _mm512_castps_si512(shifted);
  __m512 y = _mm512_setzero_ps();
#pragma GCC unroll 8
  for (int k = 4; k >= 0; --k) {
    const float* row = math::kErfTable[k];
    const __m512 c = _mm512_permutex2var_ps(_mm512_load_ps(row), piece, _mm512_load_ps(row + 16));
    y = k == 4 ? c : _mm512_fmadd_ps(y, t, c);
  }
  return with_sign(smaller(all(1), _mm512_mul_ps(whole, y)), x);
}

template <__m512 (*kFunction)(__m512)>
SPRUCE_TARGET_V4 void loop(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 a = kFunction(_mm512_loadu_ps(x + i)), b = kFunction(_mm512_loadu_ps(x + i + 16));
    _mm512_storeu_ps(y + i, a);
    _mm512_storeu_ps(y + i + 16, b);
  }
  for (; i < n; i += 16) {
    const auto mask = static_cast<__mmask16>(n - i >= 16 ? kAll : (1 << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, mask, kFunction(_mm512_maskz_loadu_ps(mask, x + i)));
  }
}

#endif

}  // namespace

#if SPRUCE_HAS_X86_TARGETS
UnaryLoop exp_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<exp16>); }
UnaryLoop logistic_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<logistic16>); }
UnaryLoop silu_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<silu16>); }
UnaryLoop tanh_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<tanh16>); }
UnaryLoop erf_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<erf16>); }
#else
UnaryLoop exp_v4() { return nullptr; }
UnaryLoop logistic_v4() { return nullptr; }
UnaryLoop silu_v4() { return nullptr; }
UnaryLoop tanh_v4() { return nullptr; }
UnaryLoop erf_v4() { return nullptr; }
#endif

}  // namespace spruce::cpu
