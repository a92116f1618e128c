// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/runs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "spruce/core/ceil_div.h"
#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/visit_bits.h"

#if SPRUCE_HAS_X86_TARGETS
#include <immintrin.h>
#endif

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
  // A vector, because GCC copies 64 bytes by memcpy in two halves.
  typedef char Piece __attribute__((vector_size(kWidth)));
  const auto copy = [](char* t, const char* f) __attribute__((always_inline)) {
    Piece piece;
    std::memcpy(&piece, f, kWidth);
    std::memcpy(t, &piece, kWidth);
  };
  const int64_t last = bytes - kWidth;
  for (int64_t i = 0; i < count; ++i) {
    char* t = to + i * to_step;
    const char* f = from + i * from_step;
    for (int64_t k = 0; k < last; k += kWidth) copy(t + k, f + k);
    copy(t + last, f + last);
  }
}

struct Pieces {
  using Loop = void (*)(char*, int64_t, const char*, int64_t, int64_t, int64_t);
  SPRUCE_TARGET_BASE static void base(char* to, int64_t to_step, const char* from,
                                      int64_t from_step, int64_t bytes, int64_t count) {
    pieces<16>(to, to_step, from, from_step, bytes, count);
  }
  SPRUCE_TARGET_V3 static void v3(char* to, int64_t to_step, const char* from, int64_t from_step,
                                  int64_t bytes, int64_t count) {
    if (bytes < 32)
      pieces<16>(to, to_step, from, from_step, bytes, count);
    else
      pieces<32>(to, to_step, from, from_step, bytes, count);
  }
  SPRUCE_TARGET_V4 static void v4(char* to, int64_t to_step, const char* from, int64_t from_step,
                                  int64_t bytes, int64_t count) {
    if (bytes < 64)
      v3(to, to_step, from, from_step, bytes, count);
    else
      pieces<64>(to, to_step, from, from_step, bytes, count);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v4); }
};

// Each piece is a load and a store of kWidth bytes. What the store writes behind the piece is
// overwritten by the pieces that follow, but for those of the last rows. With kPieces known, the
// places stay in registers (they are products, as pointers that advance together would go through
// memory as a vector); 0 is any number of pieces.
template <int kWidth, int kPieces>
void join_pieces(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                 int64_t count) {
  constexpr int64_t kRoom = kPieces == 0 ? kMostPieces : kPieces;
  if (kPieces != 0) pieces = kPieces;
  const char* f[kRoom];
  int64_t n[kRoom], start[kRoom], row = 0;
  for (int64_t k = 0; k < pieces; row += n[k++]) f[k] = from[k], n[k] = bytes[k], start[k] = row;
  const int64_t least = *std::min_element(n, n + pieces);
  const int64_t wide = std::max<int64_t>(0, count - ceil_div(kWidth, least) - 1);
  const auto rows = [&](int64_t begin, int64_t end, const auto& copy) {
    for (int64_t i = begin; i < end; ++i, to += row) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < pieces; ++k) copy(to + start[k], f[k] + i * n[k], n[k]);
    }
  };
  rows(0, wide, [](char* t, const char* x, int64_t) { std::memcpy(t, x, kWidth); });
  rows(wide, count,
       [](char* t, const char* x, int64_t size) { std::memcpy(t, x, static_cast<size_t>(size)); });
}

template <int kWidth>
void join_pieces_of(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                    int64_t count) {
  (pieces == 2   ? join_pieces<kWidth, 2>
   : pieces == 3 ? join_pieces<kWidth, 3>
   : pieces == 4 ? join_pieces<kWidth, 4>
                 : join_pieces<kWidth, 0>)(to, from, bytes, pieces, count);
}

#if SPRUCE_HAS_X86_TARGETS

constexpr int64_t kVector = 64;  // bytes

// Rows of two or three pieces, even numbers of bytes, that a vector holds at least two of: so many
// rows as fit are put together from a load of each piece. Returns how many rows are written; those
// that are left are too few for whole loads and stores.
template <int kPieces>
SPRUCE_TARGET_V4 int64_t join_vectors(char* to, const char* const* from, const int64_t* bytes,
                                      int64_t row, int64_t count) {
  const int64_t rows = kVector / row, least = *std::min_element(bytes, bytes + kPieces);
  __m512i order[kPieces];
  __mmask32 lanes[kPieces];
  int64_t start = 0;
  for (int k = 0; k < kPieces; start += bytes[k++]) {
    uint16_t source[kVector / 2] = {};
    lanes[k] = 0;
    for (int64_t lane = 0; lane < rows * row / 2; ++lane) {
      const int64_t within = 2 * lane % row - start;
      if (within < 0 || within >= bytes[k]) continue;
      source[lane] = static_cast<uint16_t>((2 * lane / row * bytes[k] + within) / 2);
      lanes[k] |= static_cast<__mmask32>(uint32_t{1} << lane);
    }
    order[k] = _mm512_loadu_si512(source);
  }
  int64_t done = 0;
  for (; (count - done) * least >= kVector; done += rows) {
    __m512i whole = _mm512_maskz_permutexvar_epi16(lanes[0], order[0],
                                                   _mm512_loadu_si512(from[0] + done * bytes[0]));
    for (int k = 1; k < kPieces; ++k) {
      whole = _mm512_mask_permutexvar_epi16(whole, lanes[k], order[k],
                                            _mm512_loadu_si512(from[k] + done * bytes[k]));
    }
    _mm512_storeu_si512(to + done * row, whole);
  }
  return done;
}

// How many of the rows join_vectors() has written.
int64_t join_by_vectors(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                        int64_t count) {
  int64_t row = 0, odd = 0;
  for (int64_t k = 0; k < pieces; ++k) row += bytes[k], odd |= bytes[k] & 1;
  if (isa_level() != IsaLevel::kV4 || odd != 0 || 2 * row > kVector) return 0;
  if (pieces == 2) return join_vectors<2>(to, from, bytes, row, count);
  if (pieces == 3) return join_vectors<3>(to, from, bytes, row, count);
  return 0;
}

#else

int64_t join_by_vectors(char*, const char* const*, const int64_t*, int64_t, int64_t) { return 0; }

#endif

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
  SPRUCE_TARGET_BASE static void base(void* to, const void* const* from, int64_t count) {
    interleave_body<kParts, T>(to, from, count);
  }
  SPRUCE_TARGET_V3 static void v3(void* to, const void* const* from, int64_t count) {
    interleave_body<kParts, T>(to, from, count);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

template <int kParts, class T>
SPRUCE_INLINE void deinterleave_body(void* const* to, const void* from_v, int64_t count) {
  const T* from = static_cast<const T*>(from_v);
  T* part[kParts];
  for (int k = 0; k < kParts; ++k) part[k] = static_cast<T*>(to[k]);
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < kParts; ++k) part[k][i] = from[kParts * i + k];
  }
}

template <int kParts, class T>
struct Deinterleave {
  using Loop = void (*)(void* const*, const void*, int64_t);
  SPRUCE_TARGET_BASE static void base(void* const* to, const void* from, int64_t count) {
    deinterleave_body<kParts, T>(to, from, count);
  }
  SPRUCE_TARGET_V3 static void v3(void* const* to, const void* from, int64_t count) {
    deinterleave_body<kParts, T>(to, from, count);
  }
  static Loop best() { return pick<Loop>(&base, &v3, &v3); }
};

template <int kParts>
void deinterleave_parts(void* const* to, const void* from, int64_t element_bytes, int64_t count) {
  visit_bits(element_bytes, [&]<class T>(T) { Deinterleave<kParts, T>::best()(to, from, count); });
}

template <int kParts>
void interleave_parts(void* to, const void* const* from, int64_t element_bytes, int64_t count) {
  visit_bits(element_bytes, [&]<class T>(T) { Interleave<kParts, T>::best()(to, from, count); });
}

}  // namespace

void copy_bytes(void* to, const void* from, int64_t bytes) {
  constexpr uintptr_t kPage = 4096, kSlow = 32;
  constexpr int64_t kByString = 2048;
  const uintptr_t ahead =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  if (bytes < kByString || ahead == 0 || ahead >= kSlow) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  static const Pieces::Loop loop = Pieces::best();
  loop(static_cast<char*>(to), 0, static_cast<const char*>(from), 0, bytes, 1);
}

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
    for (int64_t i = 0; i < count; ++i) copy_bytes(to + i * to_step, from + i * from_step, bytes);
  }
}

void join_short(char* to, const char* const* from, const int64_t* bytes, int64_t pieces,
                int64_t count) {
  const int64_t done = join_by_vectors(to, from, bytes, pieces, count);
  const char* rest[kMostPieces];
  for (int64_t k = 0; k < pieces; ++k) {
    rest[k] = from[k] + done * bytes[k];
    to += done * bytes[k];
  }
  const bool narrow = *std::max_element(bytes, bytes + pieces) <= 16;
  (narrow ? join_pieces_of<16> : join_pieces_of<32>)(to, rest, bytes, pieces, count - done);
}

void interleave(void* to, const void* const* from, int64_t parts, int64_t element_bytes,
                int64_t count) {
  if (parts == 2) return interleave_parts<2>(to, from, element_bytes, count);
  if (parts == 3) return interleave_parts<3>(to, from, element_bytes, count);
  interleave_parts<4>(to, from, element_bytes, count);
}

void deinterleave(void* const* to, const void* from, int64_t parts, int64_t element_bytes,
                  int64_t count) {
  (parts == 2 ? deinterleave_parts<2> : deinterleave_parts<3>)(to, from, element_bytes, count);
}

}  // namespace spruce::cpu
