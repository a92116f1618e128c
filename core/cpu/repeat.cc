// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/repeat.h"

#include <algorithm>
#include <cstring>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/cpu/runs.h"
#include "spruce/core/cpu/visit_bits.h"

namespace spruce::cpu {
namespace {

// The compiler knows how often, and shuffles many elements at a time; interleave() of one array
// would load each of them as often.
template <int kTimes, class T>
SPRUCE_INLINE void repeat_few(const T* from, int64_t count, T* to) {
  SPRUCE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < kTimes; ++k) to[kTimes * i + k] = from[i];
  }
}

template <class T>
struct Repeat {
  template <int64_t kWide>
  static SPRUCE_INLINE void body(const void* from_v, int64_t step, int64_t count, int64_t n,
                                 void* to_v) {
    using Vector [[gnu::vector_size(kWide)]] = T;
    constexpr int64_t kLanes = kWide / static_cast<int64_t>(sizeof(T));
    const T* from = static_cast<const T*>(from_v);
    T* to = static_cast<T*>(to_v);
    if (step == 1 && n == 2) return repeat_few<2>(from, count, to);
    if (step == 1 && n == 3) return repeat_few<3>(from, count, to);
    if (step == 1 && n == 4) return repeat_few<4>(from, count, to);
    if (n > kLanes) {
      const int64_t last = n - kLanes;  // whose store reaches back over the one before it
      for (int64_t i = 0; i < count; ++i, to += n, from += step) {
        const Vector wide = Vector{} + *from;
        for (int64_t j = 0; j < last; j += kLanes) std::memcpy(to + j, &wide, kWide);
        std::memcpy(to + last, &wide, kWide);
      }
      return;
    }
    // Each store reaches over places of the next elements, which these write again.
    const int64_t whole = n * count >= kLanes ? (n * count - kLanes) / n + 1 : 0;
#pragma GCC unroll 4
    for (int64_t i = 0; i < whole; ++i, to += n, from += step) {
      const Vector wide = Vector{} + *from;
      std::memcpy(to, &wide, kWide);
    }
    for (int64_t i = whole; i < count; ++i, to += n, from += step) {
      for (int64_t j = 0; j < n; ++j) to[j] = *from;
    }
  }
  SPRUCE_TARGET_BASE static void base(const void* from, int64_t step, int64_t count, int64_t n,
                                      void* to) {
    body<16>(from, step, count, n, to);
  }
  SPRUCE_TARGET_V3 static void v3(const void* from, int64_t step, int64_t count, int64_t n,
                                  void* to) {
    body<32>(from, step, count, n, to);
  }
  static RepeatLoop best() { return pick<RepeatLoop>(&base, &v3, &v3); }
};

}  // namespace

RepeatLoop repeat_loop(int64_t element_bytes) {
  return visit_bits(element_bytes, []<class T>(T) { return Repeat<T>::best(); });
}

void repeat_row(const void* from, int64_t bytes, int64_t rows, void* to) {
  char* const y = static_cast<char*>(to);
  if (y != from) copy_bytes(y, from, bytes);
  for (int64_t done = 1; done < rows; done *= 2)
    copy_bytes(y + done * bytes, y, std::min(done, rows - done) * bytes);
}

}  // namespace spruce::cpu
