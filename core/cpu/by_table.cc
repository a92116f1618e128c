// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/by_table.h"

#include "spruce/core/cpu/math/tables.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

#if SPRUCE_HAS_X86_TARGETS

// Headers of g++ 12 warn of the forms without a mask. The first operand gives way to one that is
// not a number.
constexpr __mmask16 kAll = 0xffff;
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 smaller(__m512 a, __m512 b) {
  return _mm512_maskz_min_ps(kAll, a, b);
}

// f(x) = x times an even function that decreases, which a table of polynomials gives up to the
// `limit`, where f is 1: |x| f(a) / a with a limited, and then at most 1, with the sign of x.
template <int kTerms>
class Odd {
 public:
  SPRUCE_TARGET_V4 SPRUCE_INLINE Odd(const float (&table)[kTerms][32], float scale, float limit)
      : scale_(_mm512_set1_ps(scale)), limit_(_mm512_set1_ps(limit)) {
    for (int k = 0; k < kTerms; ++k) {
      low_[k] = _mm512_load_ps(table[k]);
      high_[k] = _mm512_load_ps(table[k] + 16);
    }
  }

  SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 operator()(__m512 x) const {
    const __m512 sign = _mm512_set1_ps(-0.0f), magic = _mm512_set1_ps(0x1p23f);
    const __m512 whole = _mm512_andnot_ps(sign, x);
    const __m512 a = smaller(limit_, whole);
    const __m512 shifted = _mm512_fmadd_ps(a, scale_, magic);  // its low bits are the piece
    const __m512 t = _mm512_fmsub_ps(a, scale_, _mm512_sub_ps(shifted, magic));
    const __m512i piece = _mm512_castps_si512(shifted);
    __m512 y = _mm512_permutex2var_ps(low_[kTerms - 1], piece, high_[kTerms - 1]);
#pragma GCC unroll 8
    for (int k = kTerms - 2; k >= 0; --k)
      y = _mm512_fmadd_ps(y, t, _mm512_permutex2var_ps(low_[k], piece, high_[k]));
    y = smaller(_mm512_set1_ps(1.0f), _mm512_mul_ps(whole, y));
    return _mm512_or_ps(y, _mm512_and_ps(sign, x));
  }

 private:
  __m512 scale_, limit_, low_[kTerms], high_[kTerms];
};

struct Erf : Odd<5> {
  SPRUCE_TARGET_V4 SPRUCE_INLINE Erf() : Odd(math::kErfTable, math::kErfTableScale, 3.93f) {}
};
struct Tanh : Odd<6> {
  SPRUCE_TARGET_V4 SPRUCE_INLINE Tanh() : Odd(math::kTanhTable, math::kTanhTableScale, 9.02f) {}
};

// e^x = 2^floor(n) 2^(i/16) e^r with x = n ln(2) + r, n the nearest sixteenth and i / 16 its part
// behind the point.
class Exp {
 public:
  SPRUCE_TARGET_V4 SPRUCE_INLINE Exp()
      : power_(_mm512_load_ps(math::kPowerTable[0])), rest_(_mm512_load_ps(math::kPowerTable[1])) {}

  SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 operator()(__m512 x) const {
    const __m512 magic = _mm512_set1_ps(0x1.8p19f);
    // Lanes that round to zero are left out: an underflow costs hundreds of cycles.
    const __mmask16 some = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-0x1.9fe368p6f), _CMP_NLT_UQ);
    const __m512 a = smaller(_mm512_set1_ps(89.0f), x);
    const __m512 shifted = _mm512_fmadd_ps(a, _mm512_set1_ps(0x1.715476p0f), magic);
    const __m512 n = _mm512_sub_ps(shifted, magic);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.62e4p-1f), a);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0x1.7f7d1cp-20f), r);
    const __m512 bend = _mm512_fmadd_ps(r, _mm512_set1_ps(math::kPowerRest[1]),
                                        _mm512_set1_ps(math::kPowerRest[0]));
    const __m512 growth = _mm512_fmadd_ps(bend, _mm512_mul_ps(r, r), r);
    const __m512i piece = _mm512_castps_si512(shifted);
    const __m512 power = _mm512_maskz_permutexvar_ps(kAll, piece, power_);
    const __m512 rest = _mm512_maskz_permutexvar_ps(kAll, piece, rest_);
    const __m512 y = _mm512_add_ps(power, _mm512_fmadd_ps(power, growth, rest));
    return _mm512_maskz_scalef_ps(some, y, n);
  }

 private:
  __m512 power_, rest_;
};

// 1 / (1 + e^-x) without overflow.
class Logistic {
 public:
  SPRUCE_TARGET_V4 SPRUCE_INLINE Logistic() {}

  SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 operator()(__m512 x) const {
    const __m512 one = _mm512_set1_ps(1.0f);
    const __m512 e = exp_(_mm512_or_ps(x, _mm512_set1_ps(-0.0f)));
    const __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_div_ps(_mm512_mask_blend_ps(below, one, e), _mm512_add_ps(one, e));
  }

 private:
  Exp exp_;
};

class Silu {
 public:
  SPRUCE_TARGET_V4 SPRUCE_INLINE Silu() {}
  SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 operator()(__m512 x) const {
    return _mm512_mul_ps(x, logistic_(x));
  }

 private:
  Logistic logistic_;
};

template <class F>
SPRUCE_TARGET_V4 void loop(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  const F f;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 a = f(_mm512_loadu_ps(x + i)), b = f(_mm512_loadu_ps(x + i + 16));
    _mm512_storeu_ps(y + i, a);
    _mm512_storeu_ps(y + i + 16, b);
  }
  for (; i < n; i += 16) {
    const auto mask = static_cast<__mmask16>(n - i >= 16 ? kAll : (1 << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, mask, f(_mm512_maskz_loadu_ps(mask, x + i)));
  }
}

#endif

}  // namespace

#if SPRUCE_HAS_X86_TARGETS
UnaryLoop exp_by_table() { return pick<UnaryLoop>(nullptr, nullptr, &loop<Exp>); }
UnaryLoop logistic_by_table() { return pick<UnaryLoop>(nullptr, nullptr, &loop<Logistic>); }
UnaryLoop silu_by_table() { return pick<UnaryLoop>(nullptr, nullptr, &loop<Silu>); }
UnaryLoop tanh_by_table() { return pick<UnaryLoop>(nullptr, nullptr, &loop<Tanh>); }
UnaryLoop erf_by_table() { return pick<UnaryLoop>(nullptr, nullptr, &loop<Erf>); }
#else
UnaryLoop exp_by_table() { return nullptr; }
UnaryLoop logistic_by_table() { return nullptr; }
UnaryLoop silu_by_table() { return nullptr; }
UnaryLoop tanh_by_table() { return nullptr; }
UnaryLoop erf_by_table() { return nullptr; }
#endif

}  // namespace spruce::cpu
