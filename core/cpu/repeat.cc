// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/repeat.h"

#include <cstring>

#include "spruce/core/cpu/isa.h"

namespace spruce::cpu {
namespace {

template <class T>
struct Repeat {
  template <int64_t kWide>
  static SPRUCE_INLINE void body(const void* from_v, int64_t count, int64_t n, void* to_v) {
    constexpr int64_t kSize = sizeof(T);
    const T* const from = static_cast<const T*>(from_v);
    char* to = static_cast<char*>(to_v);
    const int64_t bytes = n * kSize;
    for (int64_t i = 0; i < count; ++i, to += bytes) {
      const T value = from[i];
      T wide[kWide / kSize];
      for (T& x : wide) x = value;
      if (bytes < kWide) {
        for (int64_t j = 0; j < bytes; j += kSize) std::memcpy(to + j, wide, kSize);
        continue;
      }
      // The last store reaches back over the one before it.
      for (int64_t j = 0; j < bytes - kWide; j += kWide) std::memcpy(to + j, wide, kWide);
      std::memcpy(to + bytes - kWide, wide, kWide);
    }
  }
  SPRUCE_TARGET_BASE static void base(const void* from, int64_t count, int64_t n, void* to) {
    body<16>(from, count, n, to);
  }
  SPRUCE_TARGET_V3 static void v3(const void* from, int64_t count, int64_t n, void* to) {
    body<32>(from, count, n, to);
  }
  static RepeatLoop best() { return pick<RepeatLoop>(&base, &v3, &v3); }
};

}  // namespace

RepeatLoop repeat_loop(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return Repeat<uint8_t>::best();
    case 2:
      return Repeat<uint16_t>::best();
    case 4:
      return Repeat<uint32_t>::best();
    default:
      return Repeat<uint64_t>::best();
  }
}

}  // namespace spruce::cpu
