// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/permute_rows.h"

#include <algorithm>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/runs.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

namespace spruce::cpu {
namespace {

struct Rows {
  int64_t n, step;
  const int32_t* order;
  int64_t bytes;  // of an element

  // How many rows a vector reads and writes as a whole.
  int64_t at_once(int64_t vector_bytes) const { return vector_bytes / (std::max(n, step) * bytes); }
  // The fewest rows, in both arrays, that are as long as a vector.
  int64_t fewest(int64_t vector_bytes) const {
    const int64_t last = (*std::max_element(order, order + n) + 1) * bytes;
    return std::max(ceil_div(vector_bytes, n * bytes),
                    1 + ceil_div(std::max<int64_t>(0, vector_bytes - last), step * bytes));
  }
};

#if SPRUCE_HAS_X86_TARGETS

// For each lane of a vector of rows, the lane that it is read from.
template <class Lane, int64_t kLanes>
struct Places {
  explicit Places(const Rows& r) {
    const int64_t lanes = r.bytes / static_cast<int64_t>(sizeof(Lane)),
                  rows = r.at_once(kLanes * static_cast<int64_t>(sizeof(Lane)));
    Lane* next = lane;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < r.n; ++k) {
        for (int64_t i = 0; i < lanes; ++i)
          *next++ = static_cast<Lane>((row * r.step + r.order[k]) * lanes + i);
      }
    }
  }
  Lane lane[kLanes] = {};
};

// What a store writes behind its rows is overwritten by the next one. Each gives the number of rows
// that are written; vectors are too long for those that are left.
SPRUCE_TARGET_V3 int64_t permute_v3(const Rows& r, char* to, const char* from, int64_t count) {
  constexpr int64_t kBytes = 32;
  const Places<uint32_t, 8> places(r);
  const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places.lane));
  const int64_t rows = r.at_once(kBytes), fewest = r.fewest(kBytes);
  const int64_t read = rows * r.step * r.bytes, written = rows * r.n * r.bytes;
  int64_t left = count;
  for (; left >= fewest; left -= rows, from += read, to += written) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(x, place));
  }
  return count - left;
}

template <class Lane>
SPRUCE_TARGET_V4 int64_t permute_v4(const Rows& r, char* to, const char* from, int64_t count) {
  constexpr int64_t kBytes = 64;
  const Places<Lane, kBytes / static_cast<int64_t>(sizeof(Lane))> places(r);
  const __m512i place = _mm512_loadu_si512(places.lane);
  const int64_t rows = r.at_once(kBytes), fewest = r.fewest(kBytes);
  const int64_t read = rows * r.step * r.bytes, written = rows * r.n * r.bytes;
  int64_t left = count;
  for (; left >= fewest; left -= rows, from += read, to += written) {
    const __m512i x = _mm512_loadu_si512(from);
    __m512i y;
    if constexpr (sizeof(Lane) == 2)
      y = _mm512_permutexvar_epi16(place, x);
    else
      y = _mm512_maskz_permutexvar_epi32(0xffff, place, x);  // g++ 12 warns of the other form
    _mm512_storeu_si512(to, y);
  }
  return count - left;
}

int64_t permute_in_registers(const Rows& r, char* to, const char* from, int64_t count) {
  if (r.bytes == 1 || std::max(r.n, r.step) * r.bytes > kPermutedBytes) return 0;
  if (isa_level() == IsaLevel::kV4)
    return r.bytes == 2 ? permute_v4<uint16_t>(r, to, from, count)
                        : permute_v4<uint32_t>(r, to, from, count);
  return isa_level() == IsaLevel::kV3 && r.bytes > 2 ? permute_v3(r, to, from, count) : 0;
}

#else

int64_t permute_in_registers(const Rows&, char*, const char*, int64_t) { return 0; }

#endif

}  // namespace

void permute_rows(void* to, int64_t n, const void* from, int64_t step, const int32_t* order,
                  int64_t element_bytes, int64_t count) {
  const Rows r{n, step, order, element_bytes};
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  const int64_t done = permute_in_registers(r, t, f, count);
  t += done * n * element_bytes, f += done * step * element_bytes;
  for (int64_t k = 0; k < n; ++k)
    copy_runs(t + k * element_bytes, n * element_bytes, f + order[k] * element_bytes,
              step * element_bytes, element_bytes, count - done);
}

}  // namespace spruce::cpu
