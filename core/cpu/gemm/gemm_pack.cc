// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm/gemm_pack.h"

#include <algorithm>
#include <utility>

#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/transpose.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

using simd::Bf16Pair;

constexpr int64_t kAhead = 16;  // rows that are fetched ahead

// to[p * width + j] = from[j * step_j + p].
template <class T>
using Turn = void (*)(const T* from, int64_t step_j, int64_t count, int64_t k, int64_t width,
                      T* to);

template <class T>
void turn(const T* from, int64_t step_j, int64_t count, int64_t k, int64_t width, T* to) {
  static const TransposeLoop loop = transpose_loop(sizeof(T));
  loop(from, step_j, to, width, k, count);
}

#if SPRUCE_HAS_X86_TARGETS

using simd::bf16::interleaved;

// Of rows k and k + kDistance, the lanes whose number has that bit in one for those in the other
// that have not.
template <int kDistance, int... kLane>
SPRUCE_TARGET_V4 SPRUCE_INLINE void exchange(__m512* r, std::integer_sequence<int, kLane...>) {
#pragma GCC unroll 16
  for (int k = 0; k < 16; ++k) {
    if ((k & kDistance) != 0) continue;
    const __m512 a = r[k], b = r[k + kDistance];
    r[k] = __builtin_shufflevector(a, b,
                                   ((kLane & kDistance) == 0 ? kLane : 16 + kLane - kDistance)...);
    r[k + kDistance] = __builtin_shufflevector(
        a, b, ((kLane & kDistance) == 0 ? kLane + kDistance : 16 + kLane)...);
  }
}

// Tiles of 16 x 16 in registers, those at the edges with masks: panels are often 13 or 14 high. Any
// elements of four bytes, step_j in bytes.
SPRUCE_TARGET_V4 SPRUCE_INLINE void turn_words(const void* from, int64_t step_j, int64_t count,
                                               int64_t k, int64_t width, void* to) {
  constexpr auto kLanes = std::make_integer_sequence<int, 16>{};
  constexpr int64_t kWord = 4;
  const auto lanes = [](int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xffff : (1 << n) - 1);
  };
  for (int64_t j = 0; j < count; j += 16) {
    const int64_t rows = std::min<int64_t>(16, count - j);
    const __mmask16 stored = lanes(rows);
    for (int64_t p = 0; p < k; p += 16) {
      const __mmask16 loaded = lanes(k - p);
      const char* const x = static_cast<const char*>(from) + j * step_j + p * kWord;
      __m512 r[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        r[i] = _mm512_maskz_loadu_ps(i < rows ? loaded : static_cast<__mmask16>(0),
                                     x + std::min<int64_t>(i, rows - 1) * step_j);
      exchange<8>(r, kLanes);
      exchange<4>(r, kLanes);
      exchange<2>(r, kLanes);
      exchange<1>(r, kLanes);
      char* const y = static_cast<char*>(to) + (p * width + j) * kWord;
      const int64_t columns = std::min<int64_t>(16, k - p);
      if (columns == 16) {
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) _mm512_mask_storeu_ps(y + i * width * kWord, stored, r[i]);
      } else {
        for (int64_t i = 0; i < columns; ++i)
          _mm512_mask_storeu_ps(y + i * width * kWord, stored, r[i]);
      }
    }
  }
}

SPRUCE_TARGET_V4 void turn_v4(const float* from, int64_t step_j, int64_t count, int64_t k,
                              int64_t width, float* to) {
  turn_words(from, step_j * static_cast<int64_t>(sizeof(float)), count, k, width, to);
}

// step_p is 1: pairs are neighbours.
SPRUCE_TARGET_V4 void turn_pairs_v4(const Bfloat16* from, int64_t step_j, int64_t count, int64_t k,
                                    int64_t width, Bf16Pair* to) {
  turn_words(from, step_j * static_cast<int64_t>(sizeof(Bfloat16)), count, k / 2, width, to);
  if (k % 2 == 0) return;
  for (int64_t j = 0; j < count; ++j) to[k / 2 * width + j].bits = from[j * step_j + k - 1].bits;
}

// step_j is 1: the terms of a pair stand in two rows. Up to 16 columns.
SPRUCE_TARGET_V4 void pair_narrow_rows_v4(const Bfloat16* from, int64_t step_p, int64_t count,
                                          int64_t k, int64_t width, Bf16Pair* to) {
  const __mmask32 all = (1u << count) - 1;
  const auto stored = static_cast<__mmask16>(all);
  const auto store = [&](const Bfloat16* next, __mmask32 second) SPRUCE_TARGET_V4 {
    const __m512i a = _mm512_maskz_loadu_epi16(all, from),
                  b = _mm512_maskz_loadu_epi16(second, next);
    _mm512_mask_storeu_epi32(to, stored, interleaved<0>(a, b));
  };
  int64_t p = 0;
  for (; p + 1 < k; p += 2, from += 2 * step_p, to += width) store(from + step_p, all);
  if (p < k) store(from, 0);
}

SPRUCE_TARGET_V4 void pair_rows_v4(const Bfloat16* from, int64_t step_p, int64_t count, int64_t k,
                                   int64_t width, int64_t panel, Bf16Pair* to) {
  if (count <= 16) return pair_narrow_rows_v4(from, step_p, count, k, width, to);
  for (int64_t p = 0; p < k; p += 2, from += 2 * step_p, to += width) {
    const Bfloat16* const next = p + 1 < k ? from + step_p : from;
    Bf16Pair* y = to;
    for (int64_t j = 0; j < count; j += width, y += panel) {
      const int64_t columns = std::min(width, count - j);
      const __mmask32 all = columns >= 32 ? ~0u : (1u << columns) - 1;
      const __m512i a = _mm512_maskz_loadu_epi16(all, from + j),
                    b = _mm512_maskz_loadu_epi16(p + 1 < k ? all : 0, next + j);
      _mm_prefetch(from + kAhead * step_p + j, _MM_HINT_T0);
      _mm_prefetch(next + kAhead * step_p + j, _MM_HINT_T0);
      _mm512_mask_storeu_epi32(y, static_cast<__mmask16>(all), interleaved<0>(a, b));
      if (columns > 16)
        _mm512_mask_storeu_epi32(y + 16, static_cast<__mmask16>(all >> 16), interleaved<16>(a, b));
    }
  }
}

#endif

template <class T>
Turn<T> best() {
  return &turn<T>;
}

template <>
Turn<float> best<float>() {
#if SPRUCE_HAS_X86_TARGETS
  return pick<Turn<float>>(&turn<float>, &turn<float>, &turn_v4);
#else
  return &turn<float>;
#endif
}

}  // namespace

template <class T>
void gemm_pack(const T* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, T* to) {
  if (step_j == 1) {
    gemm_tiles<T>().copy(from, step_p, k, count, to, width);
  } else if (step_p == 1) {
    static const Turn<T> turns = best<T>();
    turns(from, step_j, count, k, width, to);
  } else {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < count; ++j) to[p * width + j] = from[j * step_j + p * step_p];
    }
  }
}

void gemm_pack(const Bfloat16* from, int64_t step_j, int64_t step_p, int64_t count, int64_t k,
               int64_t width, Bf16Pair* to, int64_t panel) {
#if SPRUCE_HAS_X86_TARGETS
  if (step_j == 1) return pair_rows_v4(from, step_p, count, k, width, panel, to);
#endif
  for (; count > 0; count -= width, from += width * step_j, to += panel) {
    const int64_t columns = std::min(width, count);
#if SPRUCE_HAS_X86_TARGETS
    if (step_p == 1) {
      turn_pairs_v4(from, step_j, columns, k, width, to);
      continue;
    }
#endif
    for (int64_t p = 0; p < k; p += 2) {
      for (int64_t j = 0; j < columns; ++j) {
        const Bfloat16* const x = from + j * step_j + p * step_p;
        const uint32_t second = p + 1 < k ? x[step_p].bits : 0;
        to[p / 2 * width + j].bits = x->bits | second << 16;
      }
    }
  }
}

template void gemm_pack<float>(const float*, int64_t, int64_t, int64_t, int64_t, int64_t, float*);
template void gemm_pack<double>(const double*, int64_t, int64_t, int64_t, int64_t, int64_t,
                                double*);

}  // namespace spruce::cpu
