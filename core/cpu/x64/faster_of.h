// SPDX-License-Identifier: Apache-2.0
// Which of two ways to the same results this machine runs faster.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>

namespace spruce::cpu::x64 {

/// Two ways of doing the same work: the first kRuns runs take turns and are timed, those after them
/// take the way whose best time was less. Several threads may run it.
class FasterOf {
 public:
  static constexpr int kRuns = 8;

  /// Work of `size` elements, by one of the two.
  template <class First, class Second>
  void run(int64_t size, First&& first, Second&& second) {
    if (runs_.load(std::memory_order_relaxed) >= kRuns)
      return prefers_second() ? second() : first();
    const bool turn = runs_.fetch_add(1, std::memory_order_relaxed) % 2 == 1;
    const auto start = std::chrono::steady_clock::now();
    turn ? second() : first();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    add(turn, seconds.count() / static_cast<double>(size));
  }

  /// Notes seconds an element of the first or the second way.
  void add(bool second, double seconds) {
    std::atomic<double>& best = best_[second ? 1 : 0];
    double held = best.load(std::memory_order_relaxed);
    while (seconds < held &&
           !best.compare_exchange_weak(held, seconds, std::memory_order_relaxed)) {
    }
  }
  bool prefers_second() const {
    return best_[1].load(std::memory_order_relaxed) < best_[0].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<int> runs_{0};
  std::atomic<double> best_[2] = {std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::infinity()};
};

}  // namespace spruce::cpu::x64
