// SPDX-License-Identifier: Apache-2.0
// Exchange of values of any size between the threads of a warp, all of which take part.
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {

std::string_view shuffle_prelude() {
  return R"cuda(
namespace sp {
// Whatever x is, as words that `exchange` takes to other threads.
template <class T, class F> SP T shuffled(T x, const F& exchange) {
  union Both { T value; u32 words[(sizeof(T) + 3) / 4]; } both;
  for (int i = 0; i < int((sizeof(T) + 3) / 4); ++i) both.words[i] = 0;
  both.value = x;
#pragma unroll
  for (int i = 0; i < int((sizeof(T) + 3) / 4); ++i) both.words[i] = exchange(both.words[i]);
  return both.value;
}
template <class T> SP T shuffle_down(T x, int by) {
  return shuffled(x, [&](u32 word) { return __shfl_down_sync(0xffffffffu, word, by); });
}
template <class T> SP T shuffle_xor(T x, int by) {
  return shuffled(x, [&](u32 word) { return __shfl_xor_sync(0xffffffffu, word, by); });
}
template <class T> SP T from_lane(T x, int lane) {
  return shuffled(x, [&](u32 word) { return __shfl_sync(0xffffffffu, word, lane); });
}
template <class T> SP T warp_largest(T x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) {
    const T other = shuffle_xor(x, by);
    x = other > x ? other : x;
  }
  return x;
}
template <class T> SP T warp_sum(T x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) x += shuffle_xor(x, by);
  return x;
}
}  // namespace sp
)cuda";
}

}  // namespace spruce::cuda
