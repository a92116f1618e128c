// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bf16, for processors that multiply pairs of them.
#include <utility>

#include "spruce/core/cpu/gemm/gemm_tiles.h"
#include "spruce/core/cpu/gemm/tile_rows.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/simd.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

using simd::Bf16Pair;

#if SPRUCE_HAS_X86_TARGETS

namespace bf16 {
using simd::bf16::Vector;
constexpr int kTileRows = 14;
template <class T>
constexpr bool kManyForms = true;
#define SPRUCE_TILE_TARGET SPRUCE_TARGET_BF16
#include "spruce/core/cpu/gemm/gemm_tiles.inc"
#undef SPRUCE_TILE_TARGET
}  // namespace bf16

constexpr const GemmTiles<Bf16Pair>* kTilesOfPairs = &bf16::kTiles<Bf16Pair>;

SPRUCE_TARGET_BF16 SPRUCE_INLINE void round16(const float* x, __mmask16 lanes, Bfloat16* y) {
  const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, x));
  _mm256_mask_storeu_epi16(y, lanes, reinterpret_cast<__m256i>(rounded));
}

SPRUCE_TARGET_BF16 void round(const float* sums, int64_t sums_row, int64_t rows, int64_t columns,
                              Bfloat16* c, int64_t c_row) {
  const uint32_t all = columns >= 32 ? ~0u : (1u << columns) - 1;
  const auto low = static_cast<__mmask16>(all), high = static_cast<__mmask16>(all >> 16);
  for (int64_t i = 0; i < rows; ++i, sums += sums_row, c += c_row) {
    round16(sums, low, c);
    if (columns > 16) round16(sums + 16, high, c + 16);
  }
}

#else

constexpr GemmTiles<Bf16Pair> kNone = {};
constexpr const GemmTiles<Bf16Pair>* kTilesOfPairs = &kNone;

void round(const float*, int64_t, int64_t, int64_t, Bfloat16*, int64_t) {}

#endif

}  // namespace

bool has_bf16_tiles() {
#if SPRUCE_HAS_X86_TARGETS
  static const bool has = isa_level() == IsaLevel::kV4 && __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

template <>
const GemmTiles<Bf16Pair>& gemm_tiles<Bf16Pair>() {
  return *kTilesOfPairs;
}

void round_tile(const float* sums, int64_t sums_row, int64_t rows, int64_t columns, Bfloat16* c,
                int64_t c_row) {
  round(sums, sums_row, rows, columns, c, c_row);
}

}  // namespace spruce::cpu
