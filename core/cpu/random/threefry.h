// SPDX-License-Identifier: Apache-2.0
// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011), and loops that encrypt the places of an array as 64-bit counters.
#pragma once

#include <algorithm>
#include <cstdint>

#include "spruce/core/cpu/isa.h"
#include "spruce/core/math/isa.h"
#include "spruce/core/parallel.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Two words: a key, a counter, or what becomes of one.
struct Words {
  uint32_t first;   ///< the upper one of a 64-bit number
  uint32_t second;  ///< the lower one
};

namespace internal {

template <int kBits>
SPRUCE_INLINE void threefry_round(uint32_t& a, uint32_t& b) {
  a += b;
  b = (b << kBits) | (b >> (32 - kBits));
  b ^= a;
}

template <int kB0, int kB1, int kB2, int kB3>
SPRUCE_INLINE void threefry_rounds(uint32_t& a, uint32_t& b) {
  threefry_round<kB0>(a, b);
  threefry_round<kB1>(a, b);
  threefry_round<kB2>(a, b);
  threefry_round<kB3>(a, b);
}

}  // namespace internal

/// The counter (a, b), encrypted with the key (k0, k1), in place.
SPRUCE_INLINE void threefry2x32(uint32_t k0, uint32_t k1, uint32_t& a, uint32_t& b) {
  const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bdau;
  a += k0;
  b += k1;
  internal::threefry_rounds<13, 15, 26, 6>(a, b);
  a += k1;
  b += k2 + 1;
  internal::threefry_rounds<17, 29, 16, 24>(a, b);
  a += k2;
  b += k0 + 2;
  internal::threefry_rounds<13, 15, 26, 6>(a, b);
  a += k0;
  b += k1 + 3;
  internal::threefry_rounds<17, 29, 16, 24>(a, b);
  a += k1;
  b += k2 + 4;
  internal::threefry_rounds<13, 15, 26, 6>(a, b);
  a += k2;
  b += k0 + 5;
}

/// A number in [0, 1) from two random words: the upper bits become the mantissa of one in [1, 2).
template <class T>
SPRUCE_INLINE T unit(uint32_t a, uint32_t b);
template <>
SPRUCE_INLINE float unit<float>(uint32_t a, uint32_t b) {
  return math::from_bits((a ^ b) >> 9 | 0x3f800000u) - 1.0f;
}
template <>
SPRUCE_INLINE double unit<double>(uint32_t a, uint32_t b) {
  const uint64_t bits = static_cast<uint64_t>(a) << 32 | b;
  return math::from_bits(bits >> 12 | 0x3ff0000000000000u) - 1.0;
}

namespace internal {

template <class F, class T>
SPRUCE_INLINE void threefry_body(const F& f, Words key, Words counter, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t a = counter.first, b = counter.second + static_cast<uint32_t>(i);
    threefry2x32(key.first, key.second, a, b);
    out[i] = f(a, b);
  }
}

template <class F, class T>
struct ThreefryLoop {
  using Loop = void (*)(const F& f, Words key, Words counter, T* out, int64_t n);

  SPRUCE_TARGET_BASE static void base(const F& f, Words key, Words counter, T* out, int64_t n) {
    threefry_body(f, key, counter, out, n);
  }
  SPRUCE_TARGET_V3 static void v3(const F& f, Words key, Words counter, T* out, int64_t n) {
    threefry_body(f, key, counter, out, n);
  }
  SPRUCE_TARGET_V4 static void v4(const F& f, Words key, Words counter, T* out, int64_t n) {
    threefry_body(f, key, counter, out, n);
  }
};

inline constexpr int64_t kThreefryGrain = 65536;  // elements that are worth a thread of their own

}  // namespace internal

/// Fills `args.out[0]`, for each key of `args.in[0]` (u32[...,2]) as many elements as the rest of
/// the output's shape says: element i of a key is `f(a, b)` of the encrypted 64-bit counter i.
/// The call operator of F is SPRUCE_INLINE; T is the C++ type of an element (Words for two u32).
template <class T, class F>
void fill_from_counters(const KernelArgs& args, int64_t per_key, const F& f) {
  using Variants = internal::ThreefryLoop<F, T>;
  static const auto loop =
      pick<typename Variants::Loop>(&Variants::base, &Variants::v3, &Variants::v4);
  const auto* keys = args.in[0].as<const uint32_t>();
  const int64_t total = args.in[0].numel() / 2 * per_key;
  T* out = args.out[0].as<T>();
  parallel_for(total, internal::kThreefryGrain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t key = begin / per_key, at = begin % per_key;
      // The upper word of the counter is the same within one call of the loop.
      const int64_t in_word = (int64_t{1} << 32) - (at & 0xffffffff);
      const int64_t n = std::min({end - begin, per_key - at, in_word});
      const Words counter{static_cast<uint32_t>(at >> 32), static_cast<uint32_t>(at)};
      loop(f, Words{keys[2 * key], keys[2 * key + 1]}, counter, out + begin, n);
      begin += n;
    }
  });
}

}  // namespace spruce::cpu
