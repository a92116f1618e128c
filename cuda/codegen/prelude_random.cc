// SPDX-License-Identifier: Apache-2.0
// Threefry-2x32 for texts, bit for bit as core/cpu/random.
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {

std::string_view random_prelude() {
  return R"cuda(
namespace sp {
struct Words { u32 first, second; };
template <int b0, int b1, int b2, int b3> SP void threefry_rounds(u32& a, u32& b) {
  a += b; b = (b << b0) | (b >> (32 - b0)); b ^= a;
  a += b; b = (b << b1) | (b >> (32 - b1)); b ^= a;
  a += b; b = (b << b2) | (b >> (32 - b2)); b ^= a;
  a += b; b = (b << b3) | (b >> (32 - b3)); b ^= a;
}
SP Words threefry(Words key, u64 counter) {
  const u32 k0 = key.first, k1 = key.second, k2 = k0 ^ k1 ^ 0x1bd11bdau;
  u32 a = u32(counter >> 32) + k0, b = u32(counter) + k1;
  threefry_rounds<13, 15, 26, 6>(a, b);
  a += k1; b += k2 + 1;
  threefry_rounds<17, 29, 16, 24>(a, b);
  a += k2; b += k0 + 2;
  threefry_rounds<13, 15, 26, 6>(a, b);
  a += k0; b += k1 + 3;
  threefry_rounds<17, 29, 16, 24>(a, b);
  a += k1; b += k2 + 4;
  threefry_rounds<13, 15, 26, 6>(a, b);
  a += k2; b += k0 + 5;
  Words out;
  out.first = a;
  out.second = b;
  return out;
}
SP Words key_at(const u32* keys, i64 i) {
  Words w;
  w.first = keys[2 * i];
  w.second = keys[2 * i + 1];
  return w;
}
// In [0, 1).
template <class T> SP T unit(Words w) {
  if constexpr (Same<T, f64>::value)
    return bit_cast<f64>((u64(w.first) << 32 | w.second) >> 12 | 0x3ff0000000000000ull) - 1.0;
  else
    return bit_cast<f32>((w.first ^ w.second) >> 9 | 0x3f800000u) - 1.0f;
}
template <class T> SP T unit_at(Words key, u64 i) { return unit<T>(threefry(key, i)); }
template <class T> SP T normal_at(Words key, u64 i) {
  const T low = Same<T, f64>::value ? T(0x1p-53 - 1) : T(0x1p-24 - 1);
  const T u = fused_multiply_add(unit_at<T>(key, i), T(1) - low, low);
  return T(1.41421356237309504880) * erf_inv(u < low ? low : u);
}
}  // namespace sp
)cuda";
}

}  // namespace spruce::cuda
