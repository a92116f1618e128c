// SPDX-License-Identifier: Apache-2.0
// Single random numbers of a key, for kernels that draw until one fits: what split, uniform and
// normal give at one place, bit for bit.
#pragma once

#include <atomic>
#include <cmath>
#include <numbers>

#include "spruce/core/cpu/random/threefry.h"
#include "spruce/core/math/erf.h"

namespace spruce::cpu {

/// Key i of split(key, n).
inline Words new_key(Words key, uint64_t i) {
  auto a = static_cast<uint32_t>(i >> 32), b = static_cast<uint32_t>(i);
  threefry2x32(key.first, key.second, a, b);
  return {a, b};
}

/// Element i of uniform(key) in [0, 1).
template <class T>
T unit_at(Words key, uint64_t i) {
  auto a = static_cast<uint32_t>(i >> 32), b = static_cast<uint32_t>(i);
  threefry2x32(key.first, key.second, a, b);
  return unit<T>(a, b);
}

/// Element i of normal(key).
template <class T>
T normal_at(Words key, uint64_t i) {
  constexpr T kLow = std::numeric_limits<T>::epsilon() / 2 - 1;  // the number after -1
  const T u = std::max(std::fma(unit_at<T>(key, i), T(1) - kLow, kLow), kLow);
  return std::numbers::sqrt2_v<T> * math::erf_inv<math::Isa<false>>(u);
}

/// Calls f(key, place, element) for each element of the output: `place` counts from 0 for each key
/// of args.in[0], and the rest of the shape says how many belong to it.
template <class F>
void for_each_draw(const KernelArgs& args, const F& f) {
  const auto* words = args.in[0].as<const uint32_t>();
  const int64_t keys = args.in[0].numel() / 2, n = args.out[0].numel();
  if (n == 0) return;
  const int64_t per_key = n / keys;
  parallel_for(n, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i / per_key;
      f(Words{words[2 * k], words[2 * k + 1]}, static_cast<uint64_t>(i % per_key), i);
    }
  });
}

/// The keys of one round of rejection: key, first, second = split(key, 3).
struct Round {
  Words next, first, second;
  explicit Round(Words key)
      : next(new_key(key, 0)), first(new_key(key, 1)), second(new_key(key, 2)) {}
};

/// Rounds of rejection over all elements of a key together, as in JAX: they go on until each
/// element has been accepted once, and the last value that is accepted counts. `attempt(round,
/// place, element, value)` draws a value and says whether it is accepted; `store(element, value)`
/// takes the result.
template <class T, class Attempt, class Store>
void draw_by_rejection(const KernelArgs& args, const Attempt& attempt, const Store& store) {
  constexpr int64_t kMost = 10000;  // rounds; parameters that are never accepted end there
  const auto* words = args.in[0].as<const uint32_t>();
  const int64_t keys = args.in[0].numel() / 2, n = args.out[0].numel();
  if (n == 0) return;
  const int64_t per_key = n / keys;
  for (int64_t k = 0; k < keys; ++k) {
    const Words start{words[2 * k], words[2 * k + 1]};
    std::atomic<int64_t> rounds{0};
    const auto each = [&](const auto& f) {
      parallel_for(per_key, 1024, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) f(static_cast<uint64_t>(i), k * per_key + i);
      });
    };
    each([&](uint64_t place, int64_t i) {
      T value{};
      Words key = start;
      int64_t used = 0;
      for (bool accepted = false; !accepted && used < kMost; ++used) {
        const Round round(key);
        accepted = attempt(round, place, i, value);
        key = round.next;
      }
      int64_t most = rounds.load(std::memory_order_relaxed);
      while (most < used && !rounds.compare_exchange_weak(most, used)) {
      }
    });
    const int64_t all = rounds.load();
    each([&](uint64_t place, int64_t i) {
      T last = -1, value{};
      Words key = start;
      for (int64_t r = 0; r < all; ++r) {
        const Round round(key);
        if (attempt(round, place, i, value)) last = value;
        key = round.next;
      }
      store(i, last);
    });
  }
}

}  // namespace spruce::cpu
