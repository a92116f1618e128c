// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/window/quad_loops.h"

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/simd.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

struct Max {
  static SPRUCE_INLINE bool better(float x, float a) { return (x > a) | ((x != x) & (a == a)); }
#if SPRUCE_HAS_X86_TARGETS
  SPRUCE_TARGET_V4 static SPRUCE_INLINE __mmask16 ahead(__m512 x, __m512 a) {
    return _mm512_cmp_ps_mask(x, a, _CMP_GT_OQ);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE __m256 ahead(__m256 x, __m256 a) {
    return _mm256_cmp_ps(x, a, _CMP_GT_OQ);
  }
#endif
};

struct Min {
  static SPRUCE_INLINE bool better(float x, float a) { return (x < a) | ((x != x) & (a == a)); }
#if SPRUCE_HAS_X86_TARGETS
  SPRUCE_TARGET_V4 static SPRUCE_INLINE __mmask16 ahead(__m512 x, __m512 a) {
    return _mm512_cmp_ps_mask(x, a, _CMP_LT_OQ);
  }
  SPRUCE_TARGET_V3 static SPRUCE_INLINE __m256 ahead(__m256 x, __m256 a) {
    return _mm256_cmp_ps(x, a, _CMP_LT_OQ);
  }
#endif
};

template <class Op>
void extreme(const float* above, const float* below, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float a = above[2 * i], b = above[2 * i + 1], c = below[2 * i], d = below[2 * i + 1];
    const float x = Op::better(b, a) ? b : a, y = Op::better(d, c) ? d : c;
    out[i] = Op::better(y, x) ? y : x;
  }
}

template <class Op>
void choose(const float* above, const float* below, int64_t n, int32_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float a = above[2 * i], b = above[2 * i + 1], c = below[2 * i], d = below[2 * i + 1];
    const bool right = Op::better(b, a), low_right = Op::better(d, c);
    const float x = right ? b : a, y = low_right ? d : c;
    const int32_t first = right ? 1 : 0, second = low_right ? 3 : 2;
    out[i] = Op::better(y, x) ? second : first;
  }
}

void gather(const float* above, const float* below, const int32_t* tap, int64_t n, float fill,
            float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float x = tap[i] == 0 ? above[2 * i] : tap[i] == 1 ? above[2 * i + 1] : fill;
    out[i] = tap[i] == 2 ? below[2 * i] : tap[i] == 3 ? below[2 * i + 1] : x;
  }
}

void scatter(const float* x, const int32_t* tap, int64_t n, float* above, float* below) {
  for (int64_t i = 0; i < n; ++i) {
    above[2 * i] = tap[i] == 0 ? x[i] : 0.0f;
    above[2 * i + 1] = tap[i] == 1 ? x[i] : 0.0f;
    below[2 * i] = tap[i] == 2 ? x[i] : 0.0f;
    below[2 * i + 1] = tap[i] == 3 ? x[i] : 0.0f;
  }
}

#if SPRUCE_HAS_X86_TARGETS

namespace v3 {

// The first n lanes, none of them for n < 0.
SPRUCE_TARGET_V3 SPRUCE_INLINE __m256i first_lanes(int64_t n) {
  return simd::v3::Vector<float>::first(std::min<int64_t>(n, 8));
}

// Stores the first n lanes. Where these are not all, in parts: a masked store takes AMD's
// processors many cycles.
SPRUCE_TARGET_V3 SPRUCE_INLINE void store_first(float* to, __m256 x, int64_t n) {
  if (n >= 8) return _mm256_storeu_ps(to, x);
  if (n <= 0) return;
  __m128 part = _mm256_castps256_ps128(x);
  if ((n & 4) != 0) {
    _mm_storeu_ps(to, part);
    to += 4, part = _mm256_extractf128_ps(x, 1);
  }
  if ((n & 2) != 0) {
    _mm_storel_pi(reinterpret_cast<__m64*>(to), part);
    to += 2, part = _mm_movehl_ps(part, part);
  }
  if ((n & 1) != 0) _mm_store_ss(to, part);
}

// From the order of windows to that of Columns, and back.
SPRUCE_TARGET_V3 SPRUCE_INLINE __m256i reorder(__m256i x) {
  return _mm256_permute4x64_epi64(x, 0xd8);
}
SPRUCE_TARGET_V3 SPRUCE_INLINE __m256 reorder(__m256 x) {
  return _mm256_castsi256_ps(reorder(_mm256_castps_si256(x)));
}

// The elements of up to 8 windows of one line by their columns: windows 0 1 4 5 2 3 6 7.
struct Columns {
  __m256 left, right;

  SPRUCE_TARGET_V3 static SPRUCE_INLINE Columns load(const float* x, int64_t windows) {
    __m256 a, b;
    if (windows >= 8) {
      a = _mm256_loadu_ps(x), b = _mm256_loadu_ps(x + 8);
    } else {
      a = _mm256_maskload_ps(x, first_lanes(2 * windows));
      b = _mm256_maskload_ps(x + 8, first_lanes(2 * windows - 8));
    }
    return {_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd)};
  }
  SPRUCE_TARGET_V3 SPRUCE_INLINE void store(float* x, int64_t windows) const {
    store_first(x, _mm256_unpacklo_ps(left, right), 2 * windows);
    store_first(x + 8, _mm256_unpackhi_ps(left, right), 2 * windows - 8);
  }
};

// What is not a number wins over a number, the first of two stays.
template <class Op>
SPRUCE_TARGET_V3 SPRUCE_INLINE __m256 better(__m256 x, __m256 a) {
  const __m256 odd = _mm256_cmp_ps(x, x, _CMP_UNORD_Q), number = _mm256_cmp_ps(a, a, _CMP_ORD_Q);
  return _mm256_or_ps(Op::ahead(x, a), _mm256_and_ps(odd, number));
}

template <class Op>
SPRUCE_TARGET_V3 void extreme(const float* above, const float* below, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 8) {
    const Columns a = Columns::load(above + 2 * i, n - i), b = Columns::load(below + 2 * i, n - i);
    const __m256 x = _mm256_blendv_ps(a.left, a.right, better<Op>(a.right, a.left)),
                 y = _mm256_blendv_ps(b.left, b.right, better<Op>(b.right, b.left));
    store_first(out + i, reorder(_mm256_blendv_ps(x, y, better<Op>(y, x))), n - i);
  }
}

template <class Op>
SPRUCE_TARGET_V3 void choose(const float* above, const float* below, int64_t n, int32_t* out) {
  const __m256i one = _mm256_set1_epi32(1), two = _mm256_set1_epi32(2);
  for (int64_t i = 0; i < n; i += 8) {
    const Columns a = Columns::load(above + 2 * i, n - i), b = Columns::load(below + 2 * i, n - i);
    const __m256 right = better<Op>(a.right, a.left), low = better<Op>(b.right, b.left);
    const __m256 x = _mm256_blendv_ps(a.left, a.right, right),
                 y = _mm256_blendv_ps(b.left, b.right, low);
    const __m256i first = _mm256_and_si256(_mm256_castps_si256(right), one),
                  second = _mm256_or_si256(_mm256_and_si256(_mm256_castps_si256(low), one), two);
    const __m256i tap = _mm256_blendv_epi8(first, second, _mm256_castps_si256(better<Op>(y, x)));
    store_first(reinterpret_cast<float*>(out + i), _mm256_castsi256_ps(reorder(tap)), n - i);
  }
}

SPRUCE_TARGET_V3 SPRUCE_INLINE __m256 is(__m256i tap, int number) {
  return _mm256_castsi256_ps(_mm256_cmpeq_epi32(tap, _mm256_set1_epi32(number)));
}

SPRUCE_TARGET_V3 void gather(const float* above, const float* below, const int32_t* tap, int64_t n,
                             float fill, float* out) {
  for (int64_t i = 0; i < n; i += 8) {
    const __m256i t = reorder(_mm256_maskload_epi32(tap + i, first_lanes(n - i)));
    const Columns a = Columns::load(above + 2 * i, n - i), b = Columns::load(below + 2 * i, n - i);
    __m256 x = _mm256_blendv_ps(_mm256_set1_ps(fill), a.left, is(t, 0));
    x = _mm256_blendv_ps(x, a.right, is(t, 1));
    x = _mm256_blendv_ps(x, b.left, is(t, 2));
    store_first(out + i, reorder(_mm256_blendv_ps(x, b.right, is(t, 3))), n - i);
  }
}

SPRUCE_TARGET_V3 void scatter(const float* from, const int32_t* tap, int64_t n, float* above,
                              float* below) {
  for (int64_t i = 0; i < n; i += 8) {
    const __m256i t = reorder(_mm256_maskload_epi32(tap + i, first_lanes(n - i)));
    const __m256 x = reorder(_mm256_maskload_ps(from + i, first_lanes(n - i)));
    const Columns a{_mm256_and_ps(is(t, 0), x), _mm256_and_ps(is(t, 1), x)},
        b{_mm256_and_ps(is(t, 2), x), _mm256_and_ps(is(t, 3), x)};
    a.store(above + 2 * i, n - i);
    b.store(below + 2 * i, n - i);
  }
}

}  // namespace v3

namespace v4 {

// The elements of up to 16 windows of one line by their columns.
struct Columns {
  __m512 left, right;

  SPRUCE_TARGET_V4 static SPRUCE_INLINE __m512i even() {
    return _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE __m512i odd() {
    return _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  }
  SPRUCE_TARGET_V4 static SPRUCE_INLINE Columns load(const float* x, uint32_t pairs) {
    const __m512 a = _mm512_maskz_loadu_ps(static_cast<__mmask16>(pairs), x),
                 b = _mm512_maskz_loadu_ps(static_cast<__mmask16>(pairs >> 16), x + 16);
    return {_mm512_permutex2var_ps(a, even(), b), _mm512_permutex2var_ps(a, odd(), b)};
  }
  SPRUCE_TARGET_V4 SPRUCE_INLINE void store(float* x, uint32_t pairs) const {
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i high =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    _mm512_mask_storeu_ps(x, static_cast<__mmask16>(pairs),
                          _mm512_permutex2var_ps(left, low, right));
    _mm512_mask_storeu_ps(x + 16, static_cast<__mmask16>(pairs >> 16),
                          _mm512_permutex2var_ps(left, high, right));
  }
};

// Bits of the windows left, of which there is at least one.
SPRUCE_TARGET_V4 SPRUCE_INLINE uint32_t elements(int64_t left) {
  return left >= 16 ? ~0u : (1u << (2 * left)) - 1;
}
SPRUCE_TARGET_V4 SPRUCE_INLINE __mmask16 windows(int64_t left) {
  return static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1);
}

// What is not a number wins over a number, the first of two stays.
template <class Op>
SPRUCE_TARGET_V4 SPRUCE_INLINE __mmask16 better(__m512 x, __m512 a) {
  const __mmask16 odd = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
                  number = _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q);
  return static_cast<__mmask16>(Op::ahead(x, a) | (odd & number));
}

template <class Op>
SPRUCE_TARGET_V4 void extreme(const float* above, const float* below, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 16) {
    const uint32_t mask = elements(n - i);
    const Columns a = Columns::load(above + 2 * i, mask), b = Columns::load(below + 2 * i, mask);
    const __m512 x = _mm512_mask_mov_ps(a.left, better<Op>(a.right, a.left), a.right),
                 y = _mm512_mask_mov_ps(b.left, better<Op>(b.right, b.left), b.right);
    _mm512_mask_storeu_ps(out + i, windows(n - i), _mm512_mask_mov_ps(x, better<Op>(y, x), y));
  }
}

template <class Op>
SPRUCE_TARGET_V4 void choose(const float* above, const float* below, int64_t n, int32_t* out) {
  const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1),
                two = _mm512_set1_epi32(2), three = _mm512_set1_epi32(3);
  for (int64_t i = 0; i < n; i += 16) {
    const uint32_t mask = elements(n - i);
    const Columns a = Columns::load(above + 2 * i, mask), b = Columns::load(below + 2 * i, mask);
    const __mmask16 right = better<Op>(a.right, a.left), low = better<Op>(b.right, b.left);
    const __m512 x = _mm512_mask_mov_ps(a.left, right, a.right),
                 y = _mm512_mask_mov_ps(b.left, low, b.right);
    const __m512i first = _mm512_mask_mov_epi32(zero, right, one),
                  second = _mm512_mask_mov_epi32(two, low, three);
    _mm512_mask_storeu_epi32(out + i, windows(n - i),
                             _mm512_mask_mov_epi32(first, better<Op>(y, x), second));
  }
}

SPRUCE_TARGET_V4 SPRUCE_INLINE __mmask16 is(__m512i tap, int number) {
  return _mm512_cmpeq_epi32_mask(tap, _mm512_set1_epi32(number));
}

SPRUCE_TARGET_V4 void gather(const float* above, const float* below, const int32_t* tap, int64_t n,
                             float fill, float* out) {
  for (int64_t i = 0; i < n; i += 16) {
    const uint32_t mask = elements(n - i);
    const __m512i t = _mm512_maskz_loadu_epi32(windows(n - i), tap + i);
    const Columns a = Columns::load(above + 2 * i, mask), b = Columns::load(below + 2 * i, mask);
    __m512 x = _mm512_mask_mov_ps(_mm512_set1_ps(fill), is(t, 0), a.left);
    x = _mm512_mask_mov_ps(x, is(t, 1), a.right);
    x = _mm512_mask_mov_ps(x, is(t, 2), b.left);
    _mm512_mask_storeu_ps(out + i, windows(n - i), _mm512_mask_mov_ps(x, is(t, 3), b.right));
  }
}

SPRUCE_TARGET_V4 void scatter(const float* from, const int32_t* tap, int64_t n, float* above,
                              float* below) {
  for (int64_t i = 0; i < n; i += 16) {
    const uint32_t mask = elements(n - i);
    const __m512i t = _mm512_maskz_loadu_epi32(windows(n - i), tap + i);
    const __m512 x = _mm512_maskz_loadu_ps(windows(n - i), from + i);
    const Columns a{_mm512_maskz_mov_ps(is(t, 0), x), _mm512_maskz_mov_ps(is(t, 1), x)},
        b{_mm512_maskz_mov_ps(is(t, 2), x), _mm512_maskz_mov_ps(is(t, 3), x)};
    a.store(above + 2 * i, mask);
    b.store(below + 2 * i, mask);
  }
}

}  // namespace v4

#endif

constexpr QuadLoops kBase{extreme<Max>, extreme<Min>, choose<Max>, choose<Min>, gather, scatter};
#if SPRUCE_HAS_X86_TARGETS
constexpr QuadLoops kV3{v3::extreme<Max>, v3::extreme<Min>, v3::choose<Max>,
                        v3::choose<Min>,  v3::gather,       v3::scatter};
constexpr QuadLoops kV4{v4::extreme<Max>, v4::extreme<Min>, v4::choose<Max>,
                        v4::choose<Min>,  v4::gather,       v4::scatter};
#endif

}  // namespace

const QuadLoops& quad_loops() {
#if SPRUCE_HAS_X86_TARGETS
  static const QuadLoops* const best = pick(&kBase, &kV3, &kV4);
  return *best;
#else
  return kBase;
#endif
}

}  // namespace spruce::cpu
