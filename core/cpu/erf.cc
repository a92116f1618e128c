// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/erf.h"

#include "spruce/core/cpu/math/erf_table.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

#if SPRUCE_HAS_X86_TARGETS

struct Table {
  __m512 low[5], high[5];
};

// Headers of g++ 12 warn of the form without a mask.
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 smaller(__m512 a, __m512 b) {
  return _mm512_maskz_min_ps(static_cast<__mmask16>(0xffff), a, b);
}

// |x| erf(a) / a with a limited to where erf is 1, and then at most 1, with the sign of x. The
// first operand of min gives way to one that is not a number.
SPRUCE_TARGET_V4 SPRUCE_INLINE __m512 erf16(const Table& table, __m512 x) {
  const __m512 sign = _mm512_set1_ps(-0.0f), magic = _mm512_set1_ps(0x1p20f);
  const __m512 whole = _mm512_andnot_ps(sign, x);
  const __m512 a = smaller(_mm512_set1_ps(3.93f), whole);
  const __m512 shifted = _mm512_add_ps(a, magic);  // its low bits are the nearest eighth
  const __m512 t = _mm512_sub_ps(a, _mm512_sub_ps(shifted, magic));
  const __m512i piece = _mm512_castps_si512(shifted);
  __m512 y = _mm512_permutex2var_ps(table.low[4], piece, table.high[4]);
#pragma GCC unroll 4
  for (int k = 3; k >= 0; --k)
    y = _mm512_fmadd_ps(y, t, _mm512_permutex2var_ps(table.low[k], piece, table.high[k]));
  y = smaller(_mm512_set1_ps(1.0f), _mm512_mul_ps(whole, y));
  return _mm512_or_ps(y, _mm512_and_ps(sign, x));
}

SPRUCE_TARGET_V4 void loop(const void* from, void* to, int64_t n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  Table table;
  for (int k = 0; k < 5; ++k) {
    table.low[k] = _mm512_load_ps(math::kErfTable[k]);
    table.high[k] = _mm512_load_ps(math::kErfTable[k] + 16);
  }
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 a = erf16(table, _mm512_loadu_ps(x + i)),
                 b = erf16(table, _mm512_loadu_ps(x + i + 16));
    _mm512_storeu_ps(y + i, a);
    _mm512_storeu_ps(y + i + 16, b);
  }
  for (; i < n; i += 16) {
    const auto mask = static_cast<__mmask16>(n - i >= 16 ? 0xffff : (1 << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, mask, erf16(table, _mm512_maskz_loadu_ps(mask, x + i)));
  }
}

#endif

}  // namespace

UnaryLoop erf_by_table() {
#if SPRUCE_HAS_X86_TARGETS
  return pick<UnaryLoop>(nullptr, nullptr, &loop);
#else
  return nullptr;
#endif
}

}  // namespace spruce::cpu
