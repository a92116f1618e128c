// SPDX-License-Identifier: Apache-2.0
// Arrays may be shared between threads: copied, read, computed with, freed anywhere.
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "tests/concurrency/at_once.h"

namespace spruce {
namespace array_test {

using testing::at_once;
using testing::kThreads;

Array scores(const Array& a, const Array& b) { return nn::softmax(matmul(a, b)); }

TEST(SharedArray, IsReadAndCopiedByAll) {
  const Array x = arange(1000.0f);
  at_once([&](int) {
    for (int i = 0; i < 200; ++i) {
      const Array copy = x;
      EXPECT_EQ(copy.data<float>()[999], 999.0f);
      EXPECT_EQ(sum(copy).item<float>(), 499500.0f);
    }
  });
}

TEST(SharedArray, IsNotChangedByAnUpdateOfACopy) {
  const Array x = zeros({100});
  at_once([&](int thread) {
    for (int i = 0; i < 200; ++i) {
      Array mine = x;
      mine = std::move(mine).at(thread).set(1.0f);
      mine = std::move(mine).at(thread + kThreads).set(2.0f);
      EXPECT_EQ(sum(mine).item<float>(), 3.0f);
    }
  });
  EXPECT_EQ(sum(x).item<float>(), 0.0f);
}

TEST(SharedArray, IsFreedByTheLastThreadThatHoldsIt) {
  const int64_t before = memory::live_bytes();
  {
    std::array<std::vector<Array>, kThreads> made;
    at_once([&](int thread) {
      for (int i = 0; i < 100; ++i) made[static_cast<size_t>(thread)].push_back(ones({64, i + 1}));
    });
    at_once([&](int thread) { made[static_cast<size_t>((thread + 1) % kThreads)].clear(); });
  }
  EXPECT_EQ(memory::live_bytes(), before);
}

TEST(SharedArray, GivesEveryThreadTheSameNumbers) {
  const Array a = random::normal(Key(1), {96, 64});
  const Array b = random::normal(Key(2), {64, 80});
  const Array expected = scores(a, b);
  at_once([&](int) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(array_equal(scores(a, b), expected));
  });
}

TEST(Errors, StayOnTheThreadThatMadeThem) {
  const Array a = zeros({2, 3});
  std::atomic<int> caught = 0;
  at_once([&](int thread) {
    for (int i = 0; i < 50; ++i) {
      if (thread % 2 == 0) {
        EXPECT_EQ(sum(a + a).item<float>(), 0.0f);
      } else {
        try {
          matmul(a, a);
        } catch (const ShapeError&) {
          ++caught;
        }
      }
    }
  });
  EXPECT_EQ(caught, kThreads / 2 * 50);
}

}  // namespace array_test
}  // namespace spruce
