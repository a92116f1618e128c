// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/gemm_pack.h"

#include <algorithm>
#include <utility>

#include "spruce/core/cpu/gemm_tiles.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/transpose.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

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

// Tiles of 16 x 16 in registers, those at the edges with masks: panels are often 13 or 14 high.
SPRUCE_TARGET_V4 void turn_v4(const float* from, int64_t step_j, int64_t count, int64_t k,
                              int64_t width, float* to) {
  constexpr auto kLanes = std::make_integer_sequence<int, 16>{};
  const auto lanes = [](int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xffff : (1 << n) - 1);
  };
  for (int64_t j = 0; j < count; j += 16) {
    const int64_t rows = std::min<int64_t>(16, count - j);
    const __mmask16 stored = lanes(rows);
    for (int64_t p = 0; p < k; p += 16) {
      const __mmask16 loaded = lanes(k - p);
      const float* const x = from + j * step_j + p;
      __m512 r[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i)
        r[i] = _mm512_maskz_loadu_ps(i < rows ? loaded : static_cast<__mmask16>(0),
                                     x + std::min<int64_t>(i, rows - 1) * step_j);
      exchange<8>(r, kLanes);
      exchange<4>(r, kLanes);
      exchange<2>(r, kLanes);
      exchange<1>(r, kLanes);
      float* const y = to + p * width + j;
      const int64_t columns = std::min<int64_t>(16, k - p);
      if (columns == 16) {
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) _mm512_mask_storeu_ps(y + i * width, stored, r[i]);
      } else {
        for (int64_t i = 0; i < columns; ++i) _mm512_mask_storeu_ps(y + i * width, stored, r[i]);
      }
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

template void gemm_pack<float>(const float*, int64_t, int64_t, int64_t, int64_t, int64_t, float*);
template void gemm_pack<double>(const double*, int64_t, int64_t, int64_t, int64_t, int64_t,
                                double*);

}  // namespace spruce::cpu
