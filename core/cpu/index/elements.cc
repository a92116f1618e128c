// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/elements.h"

#include <algorithm>
#include <array>
#include <limits>

#include "spruce/core/cpu/isa.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

constexpr int kMostKeys = 3;  // of an index vector

struct Keys {
  std::array<int32_t, kMostKeys> last, stride, wrap;
};

template <int kKeys, class I>
SPRUCE_INLINE void places_body(const I* entries, int64_t n, const Keys& keys, bool clip,
                               int32_t* places) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    int32_t place = 0;
    bool inside = true;
#pragma GCC unroll 3
    for (int k = 0; k < kKeys; ++k) {
      const I at = wrapped<I>(entries[i * kKeys + k], keys.wrap[k]);
      const I nearest = std::clamp<I>(at, 0, static_cast<I>(keys.last[k]));
      inside = inside & (at == nearest);
      place += static_cast<int32_t>(nearest) * keys.stride[k];
    }
    places[i] = clip | inside ? place : -1;
  }
}

template <int kKeys, class I>
struct Places {
  using Loop = void (*)(const I*, int64_t, const Keys&, bool, int32_t*);
  SPRUCE_TARGET_BASE static void base(const I* entries, int64_t n, const Keys& keys, bool clip,
                                      int32_t* places) {
    places_body<kKeys>(entries, n, keys, clip, places);
  }
  SPRUCE_TARGET_V3 static void v3(const I* entries, int64_t n, const Keys& keys, bool clip,
                                  int32_t* places) {
    places_body<kKeys>(entries, n, keys, clip, places);
  }
  static void run(const Windows& w, int64_t begin, int64_t end, int32_t* places) {
    static const Loop loop = pick<Loop>(&base, &v3, &v3);
    Keys keys;
    for (int k = 0; k < kKeys; ++k) {
      keys.last[k] = static_cast<int32_t>(w.last_place(k));
      keys.stride[k] = static_cast<int32_t>(w.key_stride(k));
      keys.wrap[k] = static_cast<int32_t>(w.wrap(k));
    }
    loop(w.indices().template as<I>() + begin * kKeys, end - begin, keys, w.clip(), places);
  }
};

struct Keep {
  using Loop = int64_t (*)(const Share&, const int32_t*, int64_t, int32_t, int32_t*, int32_t*);

  static int64_t base(const Share& share, const int32_t* places, int64_t n, int32_t first,
                      int32_t* to, int32_t* from) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t at = places[i];
      to[kept] = at, from[kept] = first + static_cast<int32_t>(i);
      kept += static_cast<int64_t>(at >= 0) & static_cast<int64_t>(share.owns(at));
    }
    return kept;
  }

#if SPRUCE_HAS_X86_TARGETS
  // For each mask of eight lanes, the numbers of those that are set, then zeros.
  static constexpr std::array<uint64_t, 256> lanes() {
    std::array<uint64_t, 256> out{};
    for (unsigned mask = 0; mask < 256; ++mask) {
      int at = 0;
      for (uint64_t lane = 0; lane < 8; ++lane) {
        if ((mask >> lane & 1) != 0) out[mask] |= lane << (8 * at++);
      }
    }
    return out;
  }

  SPRUCE_TARGET_V3 static int64_t v3(const Share& share, const int32_t* places, int64_t n,
                                     int32_t first, int32_t* to, int32_t* from) {
    static constexpr std::array<uint64_t, 256> kLanes = lanes();
    const __m256i mix = _mm256_set1_epi32(static_cast<int>(Share::kMix)),
                  part = _mm256_set1_epi32(share.part);
    const __m128i block = _mm_cvtsi32_si128(share.block), low = _mm_cvtsi32_si128(32 - share.bits);
    int64_t kept = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
      const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places + i));
      const __m256i mixed = _mm256_mullo_epi32(_mm256_srl_epi32(at, block), mix);
      const __m256i mine = _mm256_cmpeq_epi32(_mm256_srl_epi32(mixed, low), part);
      const int mask = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(at, mine)));
      const __m256i lane = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(
          static_cast<long long>(kLanes[static_cast<size_t>(mask)])));  // NOLINT: of the intrinsic
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + kept),
                          _mm256_permutevar8x32_epi32(at, lane));
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(from + kept),
          _mm256_add_epi32(lane, _mm256_set1_epi32(first + static_cast<int32_t>(i))));
      kept += __builtin_popcount(static_cast<unsigned>(mask));
    }
    return kept +
           base(share, places + i, n - i, first + static_cast<int32_t>(i), to + kept, from + kept);
  }

  SPRUCE_TARGET_V4 static int64_t v4(const Share& share, const int32_t* places, int64_t n,
                                     int32_t first, int32_t* to, int32_t* from) {
    const __m512i mix = _mm512_set1_epi32(static_cast<int>(Share::kMix)),
                  part = _mm512_set1_epi32(share.part), zero = _mm512_set1_epi32(0),
                  step = _mm512_set1_epi32(16);
    const __m128i block = _mm_cvtsi32_si128(share.block), low = _mm_cvtsi32_si128(32 - share.bits);
    constexpr __mmask16 kAll = 0xffff;  // headers of g++ 12 warn of the forms without a mask
    __m512i position =
        _mm512_add_epi32(_mm512_set1_epi32(first),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    int64_t kept = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
      const __m512i at = _mm512_loadu_si512(places + i);
      const __m512i mixed = _mm512_mullo_epi32(_mm512_maskz_srl_epi32(kAll, at, block), mix);
      const __mmask16 mask = _mm512_mask_cmpeq_epi32_mask(
          _mm512_cmpge_epi32_mask(at, zero), _mm512_maskz_srl_epi32(kAll, mixed, low), part);
      _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi32(mask, at));
      _mm512_storeu_si512(from + kept, _mm512_maskz_compress_epi32(mask, position));
      kept += __builtin_popcount(mask);
      position = _mm512_add_epi32(position, step);
    }
    return kept +
           base(share, places + i, n - i, first + static_cast<int32_t>(i), to + kept, from + kept);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v4); }
#else
  static Loop best() { return &base; }
#endif
};

}  // namespace

bool are_rows(const Windows& w, int64_t numel) {
  const Dtype dtype = w.indices().dtype();
  if ((w.window.size() != 1 && !w.window.one_row()) || w.keys() < 1 || w.keys() > kMostKeys)
    return false;
  if (dtype != Dtype::kInt32 && (dtype != Dtype::kInt64 || !w.one_key())) return false;
  for (int k = 0; k < w.keys(); ++k) {
    if (w.last_place(k) < 0) return false;
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return numel <= kMost && w.positions.size() <= kMost && w.one_list() &&
         w.positions.result_step() == w.window.size();
}

void row_places(const Windows& w, int64_t begin, int64_t end, int32_t* places) {
  if (w.indices().dtype() == Dtype::kInt64)
    Places<1, int64_t>::run(w, begin, end, places);
  else if (w.keys() == 1)
    Places<1, int32_t>::run(w, begin, end, places);
  else if (w.keys() == 2)
    Places<2, int32_t>::run(w, begin, end, places);
  else
    Places<3, int32_t>::run(w, begin, end, places);
}

int64_t keep_elements(const Share& share, const int32_t* places, int64_t count, int32_t first,
                      int32_t* to, int32_t* from) {
  static const Keep::Loop loop = Keep::best();
  return loop(share, places, count, first, to, from);
}

}  // namespace spruce::cpu
