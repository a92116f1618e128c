// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/cpu/x64/faster_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace spruce::cpu::x64 {
namespace {

// Of 100 runs, how often each way ran.
std::pair<int, int> counts(FasterOf& faster) {
  int first = 0, second = 0;
  for (int i = 0; i < 100; ++i)
    faster.run(
        1000, [&] { ++first; }, [&] { ++second; });
  return {first, second};
}

TEST(FasterOf, TakesTurnsAndThenStaysWithOne) {
  FasterOf faster;
  const auto [first, second] = counts(faster);
  EXPECT_EQ(first + second, 100);
  EXPECT_EQ(std::min(first, second), FasterOf::kRuns / 2);
}

TEST(FasterOf, StaysWithTheOneThatWasFasterAtBest) {
  for (const bool second : {false, true}) {
    FasterOf faster;
    for (const double seconds : {3e-9, 1e-15, 2e-9}) faster.add(second, seconds);
    faster.add(!second, 2e-15);  // no run is as fast as either
    EXPECT_EQ(faster.prefers_second(), second);
    const auto [a, b] = counts(faster);
    EXPECT_EQ(second ? a : b, FasterOf::kRuns / 2);
  }
}

}  // namespace
}  // namespace spruce::cpu::x64
