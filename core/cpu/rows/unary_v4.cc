// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/rows/unary_v4.h"

#include <cstdint>
#include <iterator>
#include <limits>

#include "spruce/core/cpu/rows/rows.h"
#include "spruce/core/math/coefficients.h"
#include "spruce/core/math/erf_table.h"
#include "spruce/core/math/isa.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

#if SPRUCE_HAS_X86_TARGETS

// Headers of g++ 12 warn of the forms without a mask.
constexpr __mmask16 kAll = 0xffff;
constexpr __mmask8 kAllDoubles = 0xff;

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
  const __m512 magic = all(math::kRoundMagic<float>);
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

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512d all_of(double x) { return _mm512_set1_pd(x); }

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512d exp8(__m512d x) {
  const __mmask8 some = _mm512_cmp_pd_mask(x, all_of(-0x1.74910d52d3053p9), _CMP_NLT_UQ);
  const __m512d magic = all_of(math::kRoundMagic<double>);
  const __m512d a = _mm512_maskz_min_pd(some, all_of(710), x);
  const __m512d n = _mm512_sub_pd(_mm512_fmadd_pd(a, all_of(0x1.71547652b82fep0), magic), magic);
  __m512d r = _mm512_fnmadd_pd(n, all_of(0x1.62e42fefap-1), a);
  r = _mm512_fnmadd_pd(n, all_of(0x1.cf79abc9e3b39p-40), r);
  constexpr int kLast = static_cast<int>(std::size(math::kExpDouble)) - 1;
  __m512d p = all_of(math::kExpDouble[kLast]);
#pragma GCC unroll 16
  for (int k = kLast - 1; k >= 0; --k) p = _mm512_fmadd_pd(p, r, all_of(math::kExpDouble[k]));
  p = _mm512_fmadd_pd(_mm512_mul_pd(r, r), p, r);
  return _mm512_maskz_scalef_pd(some, _mm512_add_pd(p, all_of(1)), n);
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __m512d log8(__m512d x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const __mmask8 subnormal =
      _mm512_cmp_pd_mask(x, all_of(std::numeric_limits<double>::min()), _CMP_LT_OQ);
  const __m512i bits = _mm512_castpd_si512(_mm512_mask_mul_pd(x, subnormal, x, all_of(0x1p52)));
  const __m512i shifted = _mm512_sub_epi64(bits, _mm512_set1_epi64(0x3fe6a09e667f3bcd));
  const __m512i k = _mm512_maskz_srai_epi64(kAllDoubles, shifted, 52);
  const __m512i m = _mm512_sub_epi64(bits, _mm512_maskz_slli_epi64(kAllDoubles, k, 52));
  const __m512d f = _mm512_sub_pd(_mm512_castsi512_pd(m), all_of(1));
  __m512d e = _mm512_maskz_cvtepi64_pd(kAllDoubles, k);
  e = _mm512_mask_sub_pd(e, subnormal, e, all_of(52));
  const __m512d s = _mm512_div_pd(f, _mm512_add_pd(all_of(2), f)), z = _mm512_mul_pd(s, s);
  const __m512d half_square = _mm512_mul_pd(_mm512_mul_pd(all_of(0.5), f), f);
  constexpr int kLast = static_cast<int>(std::size(math::kLogDouble)) - 1;
  __m512d p = all_of(math::kLogDouble[kLast]);
#pragma GCC unroll 16
  for (int i = kLast - 1; i >= 0; --i) p = _mm512_fmadd_pd(p, z, all_of(math::kLogDouble[i]));
  const __m512d low = _mm512_mul_pd(e, all_of(0x1.cf79abc9e3b39p-40));
  const __m512d tail = _mm512_fmadd_pd(s, _mm512_fmadd_pd(p, z, half_square), low);
  const __m512d y = _mm512_fmadd_pd(e, all_of(0x1.62e42fefap-1),
                                    _mm512_sub_pd(f, _mm512_sub_pd(half_square, tail)));
  const __mmask8 plain = _mm512_cmp_pd_mask(x, all_of(kInfinity), _CMP_LT_OQ),
                 zero = _mm512_cmp_pd_mask(x, all_of(0), _CMP_EQ_OQ),
                 below = _mm512_cmp_pd_mask(x, all_of(0), _CMP_LT_OQ);
  const __m512d finite = _mm512_mask_blend_pd(plain, x, y),
                from_zero = _mm512_mask_blend_pd(zero, finite, all_of(-kInfinity));
  return _mm512_mask_blend_pd(below, from_zero, all_of(std::numeric_limits<double>::quiet_NaN()));
}

template <__m512d (*kFunction)(__m512d)>
SPRUCE_TARGET_V4 void loop_of_doubles(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const double*>(from);
  auto* y = static_cast<double*>(to);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512d a = kFunction(_mm512_loadu_pd(x + i)), b = kFunction(_mm512_loadu_pd(x + i + 8));
    _mm512_storeu_pd(y + i, a);
    _mm512_storeu_pd(y + i + 8, b);
  }
  for (; i < n; i += 8) {
    const auto mask = static_cast<__mmask8>(n - i >= 8 ? 0xff : (1 << (n - i)) - 1);
    _mm512_mask_storeu_pd(y + i, mask, kFunction(_mm512_maskz_loadu_pd(mask, x + i)));
  }
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

SPRUCE_TARGET_V4 float exp_sum(const float* x, float shift, float* y, int64_t n) {
  const __m512 low = all(shift);
  __m512 total = _mm512_setzero_ps();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 e = exp16(_mm512_sub_ps(_mm512_loadu_ps(x + i), low));
    if (y != nullptr) _mm512_storeu_ps(y + i, e);
    total = _mm512_add_ps(total, e);
  }
  float lanes[16], rest = 0;
  if (i < n) {
    const auto mask = static_cast<__mmask16>((1 << (n - i)) - 1);
    const __m512 e = exp16(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), low));
    if (y != nullptr) _mm512_mask_storeu_ps(y + i, mask, e);
    _mm512_storeu_ps(lanes, e);
    for (int64_t l = 0; l < n - i; ++l) rest += lanes[l];
  }
  if (n < 16) return rest;
  _mm512_storeu_ps(lanes, total);
  return across(lanes) + rest;
}

#endif

}  // namespace

#if SPRUCE_HAS_X86_TARGETS
UnaryLoop exp_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<exp16>); }
ExpSum exp_sum_v4() { return pick<ExpSum>(nullptr, nullptr, &exp_sum); }
UnaryLoop exp_double_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop_of_doubles<exp8>); }
UnaryLoop log_double_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop_of_doubles<log8>); }
UnaryLoop logistic_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<logistic16>); }
UnaryLoop silu_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<silu16>); }
UnaryLoop tanh_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<tanh16>); }
UnaryLoop erf_v4() { return pick<UnaryLoop>(nullptr, nullptr, &loop<erf16>); }
#else
UnaryLoop exp_v4() { return nullptr; }
ExpSum exp_sum_v4() { return nullptr; }
UnaryLoop exp_double_v4() { return nullptr; }
UnaryLoop log_double_v4() { return nullptr; }
UnaryLoop logistic_v4() { return nullptr; }
UnaryLoop silu_v4() { return nullptr; }
UnaryLoop tanh_v4() { return nullptr; }
UnaryLoop erf_v4() { return nullptr; }
#endif

}  // namespace spruce::cpu
