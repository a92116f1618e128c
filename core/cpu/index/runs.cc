// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/index/runs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spruce/core/cpu/ceil_div.h"
#include "spruce/core/cpu/isa.h"

namespace spruce::cpu {
namespace {

constexpr int64_t kMostFixed = 16;  // bytes of runs with a loop for each length

template <int kBytes>
void fixed(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

using Fixed = void (*)(char*, int64_t, const char*, int64_t, int64_t);

template <int... kBytes>
Fixed fixed_loop(int64_t bytes, std::integer_sequence<int, kBytes...>) {
  static constexpr Fixed kLoops[] = {&fixed<kBytes + 1>...};
  return kLoops[bytes - 1];
}

// kWidth bytes at a time; the last piece reaches back over the one before it.
template <int kWidth>
SPRUCE_INLINE void pieces(char* to, int64_t to_step, const char* from, int64_t from_step,
                          int64_t bytes, int64_t count) {
  const int64_t last = bytes - kWidth;
  for (int64_t i = 0; i < count; ++i) {
    char* t = to + i * to_step;
    const char* f = from + i * from_step;
    for (int64_t k = 0; k < last; k += kWidth) std::memcpy(t + k, f + k, kWidth);
    std::memcpy(t + last, f + last, kWidth);
  }
}

struct Pieces {
  using Loop = void (*)(char*, int64_t, const char*, int64_t, int64_t, int64_t);
  static void base(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t bytes,
                   int64_t count) {
    pieces<16>(to, to_step, from, from_step, bytes, count);
  }
  SPRUCE_TARGET_V3 static void v3(char* to, int64_t to_step, const char* from, int64_t from_step,
                                  int64_t bytes, int64_t count) {
    if (bytes < 32)
      pieces<16>(to, to_step, from, from_step, bytes, count);
    else
      pieces<32>(to, to_step, from, from_step, bytes, count);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

// Each piece is a load and a store of kWidth bytes. What the store writes behind the piece is
// overwritten by the pieces that follow, but for those of the last rows.
template <int kWidth>
void join_pieces(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                 int64_t count) {
  const char* f[kMostPieces];
  std::copy_n(from, pieces, f);
  const int64_t least = *std::min_element(bytes, bytes + pieces);
  const int64_t wide = std::max<int64_t>(0, count - ceil_div(kWidth, least) - 1);
  const auto rows = [&](int64_t begin, int64_t end, const auto& copy) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t k = 0; k < pieces; ++k) {
        copy(to, f[k], bytes[k]);
        to += bytes[k], f[k] += bytes[k];
      }
    }
  };
  rows(0, wide, [](char* t, const char* x, int64_t) { std::memcpy(t, x, kWidth); });
  rows(wide, count,
       [](char* t, const char* x, int64_t n) { std::memcpy(t, x, static_cast<size_t>(n)); });
}

template <int kParts, class T>
SPRUCE_INLINE void interleave_body(void* to_v, const void* const* from, int64_t count) {
  T* to = static_cast<T*>(to_v);
  const T* part[kParts];
  for (int k = 0; k < kParts; ++k) part[k] = static_cast<const T*>(from[k]);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < kParts; ++k) to[kParts * i + k] = part[k][i];
  }
}

template <int kParts, class T>
struct Interleave {
  using Loop = void (*)(void*, const void* const*, int64_t);
  static void base(void* to, const void* const* from, int64_t count) {
    interleave_body<kParts, T>(to, from, count);
  }
  SPRUCE_TARGET_V3 static void v3(void* to, const void* const* from, int64_t count) {
    interleave_body<kParts, T>(to, from, count);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

template <int kParts>
void interleave_parts(void* to, const void* const* from, int64_t element_bytes, int64_t count) {
  static const auto one = Interleave<kParts, uint8_t>::best();
  static const auto two = Interleave<kParts, uint16_t>::best();
  static const auto four = Interleave<kParts, uint32_t>::best();
  static const auto eight = Interleave<kParts, uint64_t>::best();
  (element_bytes == 1   ? one
   : element_bytes == 2 ? two
   : element_bytes == 4 ? four
                        : eight)(to, from, count);
}

}  // namespace

void copy_runs(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t bytes,
               int64_t count) {
  if (bytes <= 0) return;
  if (bytes <= kMostFixed) {
    fixed_loop(bytes, std::make_integer_sequence<int, kMostFixed>{})(to, to_step, from, from_step,
                                                                     count);
  } else if (bytes <= kShortRunBytes) {
    static const Pieces::Loop loop = Pieces::best();
    loop(to, to_step, from, from_step, bytes, count);
  } else {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(bytes));
  }
}

void join_short(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                int64_t count) {
  const bool narrow = *std::max_element(bytes, bytes + pieces) <= 16;
  (narrow ? join_pieces<16> : join_pieces<32>)(to, from, bytes, pieces, count);
}

void interleave(void* to, const void* const* from, int64_t parts, int64_t element_bytes,
                int64_t count) {
  if (parts == 2) return interleave_parts<2>(to, from, element_bytes, count);
  if (parts == 3) return interleave_parts<3>(to, from, element_bytes, count);
  interleave_parts<4>(to, from, element_bytes, count);
}

}  // namespace spruce::cpu
