// SPDX-License-Identifier: Apache-2.0
// States of reductions, and how threads bring theirs together in a fixed order.
#include "spruce/cuda/codegen/prelude.h"

namespace spruce::cuda {

std::string_view reduce_prelude() {
  return R"cuda(
namespace sp {
template <class T> struct Sum {
  T total;
  SP_MEMBER void start() { total = T(0); }
  SP_MEMBER void add(T x, i64) { total = sp::add(total, x); }
  SP_MEMBER void merge(const Sum& b) { total = sp::add(total, b.total); }
  SP_MEMBER T result() const { return total; }
};
// Of f32 with what the additions have lost, so that the order of the elements hardly shows.
template <class T> struct CompensatedSum : Sum<T> {};
template <> struct CompensatedSum<f32> {
  f32 total, rest;
  SP_MEMBER void start() { total = 0, rest = 0; }
  SP_MEMBER void add(f32 x, i64) {
    const f32 sum = total + x, part = sum - total;
    rest += (total - (sum - part)) + (x - part);
    total = sum;
  }
  SP_MEMBER void merge(const CompensatedSum& b) {
    add(b.total, 0);
    rest += b.rest;
  }
  SP_MEMBER f32 result() const { return is_finite(total) ? total + rest : total; }
};
template <class T> struct Product {
  T total;
  SP_MEMBER void start() { total = T(1); }
  SP_MEMBER void add(T x, i64) { total = mul(total, x); }
  SP_MEMBER void merge(const Product& b) { total = mul(total, b.total); }
  SP_MEMBER T result() const { return total; }
};
// NaN may be infinity times zero where no factor is infinite: then it is zero.
template <class T> struct FloatProduct {
  T total;
  u32 flags;  // 1: not finite, 2: zero, 4: an odd number of negative factors
  SP_MEMBER void start() { total = T(1), flags = 0; }
  SP_MEMBER void add(T x, i64) {
    total *= x;
    flags |= (is_finite(x) ? 0u : 1u) | (x == T(0) ? 2u : 0u);
    flags ^= copysign(T(1), x) < T(0) ? 4u : 0u;
  }
  SP_MEMBER void merge(const FloatProduct& b) {
    total *= b.total;
    flags = ((flags | b.flags) & 3u) | ((flags ^ b.flags) & 4u);
  }
  SP_MEMBER T result() const {
    return total != total && (flags & 3u) == 2u ? (flags & 4u ? -T(0) : T(0)) : total;
  }
};
template <> struct Product<f32> : FloatProduct<f32> {};
template <> struct Product<f64> : FloatProduct<f64> {};
template <class T> struct Largest {
  T best;
  SP_MEMBER void start() { best = least<T>(); }
  SP_MEMBER void add(T x, i64) { best = x != x ? x : x > best ? x : best; }
  SP_MEMBER void merge(const Largest& b) { add(b.best, 0); }
  SP_MEMBER T result() const { return best; }
};
template <class T> struct Smallest {
  T best;
  SP_MEMBER void start() { best = most<T>(); }
  SP_MEMBER void add(T x, i64) { best = x != x ? x : x < best ? x : best; }
  SP_MEMBER void merge(const Smallest& b) { add(b.best, 0); }
  SP_MEMBER T result() const { return best; }
};
template <class T> struct And {
  T bits;
  SP_MEMBER void start() { bits = Type<T>::boolean ? T(1) : T(~T(0)); }
  SP_MEMBER void add(T x, i64) { bits = T(bits & x); }
  SP_MEMBER void merge(const And& b) { add(b.bits, 0); }
  SP_MEMBER T result() const { return bits; }
};
template <class T> struct Or {
  T bits;
  SP_MEMBER void start() { bits = T(0); }
  SP_MEMBER void add(T x, i64) { bits = T(bits | x); }
  SP_MEMBER void merge(const Or& b) { add(b.bits, 0); }
  SP_MEMBER T result() const { return bits; }
};
// The place of the best element, the first of equal ones; NaN is the best.
template <class T, bool kLargest> struct ArgBest {
  T best;
  i64 at;
  SP_MEMBER void start() { best = T(0), at = -1; }
  SP_MEMBER void add(T x, i64 k) {
    const bool better = (kLargest ? x > best : x < best) || (x != x && best == best);
    const bool equal = x == best || (x != x && best != best);
    if (k >= 0 && (at < 0 || better || (equal && k < at))) best = x, at = k;
  }
  SP_MEMBER void merge(const ArgBest& b) { add(b.best, b.at); }
  SP_MEMBER i64 result() const { return at; }
};
template <class T> struct ArgLargest : ArgBest<T, true> {};
template <class T> struct ArgSmallest : ArgBest<T, false> {};

// The states of n = 1, 2, 4, ... threads side by side; whole warps take part. The result is that of
// the first of them. `shared` has an entry for each warp, and is read where n > 32 only.
template <int n, class S> SP S merge_threads(S s, S* shared) {
#pragma unroll
  for (int by = (n < 32 ? n : 32) / 2; by > 0; by /= 2) s.merge(shuffle_down(s, by));
  if constexpr (n > 32) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) shared[warp] = s;
    __syncthreads();
    if (warp == 0) {
      if (lane < n / 32) s = shared[lane];
      else s.start();
#pragma unroll
      for (int by = n / 64; by > 0; by /= 2) s.merge(shuffle_down(s, by));
    }
    __syncthreads();
  }
  return s;
}
}  // namespace sp
)cuda";
}

}  // namespace spruce::cuda
