// SPDX-License-Identifier: Apache-2.0
// Transforms and compiled functions from eight threads at once.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace threads_test {

constexpr int kCount = 8;

template <class F>
void on_all(const F& f) {
  std::barrier start(kCount);
  std::vector<std::thread> threads;
  for (int t = 0; t < kCount; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      f(t);
    });
  }
  for (std::thread& t : threads) t.join();
}

Array wave(const Array& x) { return sum(sin(x) * exp(-x)); }

TEST(TransformThreads, OneCompiledFunctionGivesWhatOneThreadGets) {
  const auto slope = jit(grad(wave));
  std::vector<Array> inputs, want;
  for (int t = 0; t < kCount; ++t) {
    inputs.push_back(linspace(0.1f, 1.0f + static_cast<float>(t), 37));
    want.push_back(slope(inputs.back()));
  }
  on_all([&](int t) {
    const auto i = static_cast<size_t>(t);
    for (int n = 0; n < 50; ++n) EXPECT_TRUE(array_equal(slope(inputs[i]), want[i]));
  });
  EXPECT_EQ(slope.trace_count(), 1);
}

TEST(TransformThreads, FirstCallsAtOnce) {
  for (int round = 0; round < 10; ++round) {
    const auto f = jit([](const Array& x) { return x * 3.0f + 1.0f; });
    on_all([&](int t) {
      const Array x = full({4 + t % 2}, static_cast<float>(t));
      EXPECT_TRUE(array_equal(f(x), x * 3.0f + 1.0f));
    });
    const int64_t traced = f.trace_count();
    EXPECT_GE(traced, 2);
    EXPECT_LE(traced, kCount);
    (void)f(zeros({4}));
    EXPECT_EQ(f.trace_count(), traced);
  }
}

TEST(TransformThreads, EachNestsByItself) {
  const Array x = linspace(0.1f, 2.0f, 6);
  const Array curvature = hessian(wave)(x);
  on_all([&](int) {
    for (int n = 0; n < 5; ++n) {
      EXPECT_TRUE(array_equal(hessian(wave)(x), curvature));
      EXPECT_TRUE(allclose(vmap(grad(jit(wave)))(stack({x, x}))[1], grad(wave)(x)));
    }
  });
}

TEST(TransformThreads, DonationOfSharedInputs) {
  const auto step = jit([](const Array& x) { return x * 0.5f + 1.0f; });
  const Array start = full({100}, 10.0f);
  on_all([&](int) {
    Array x = start;
    for (int n = 0; n < 60; ++n) x = step(std::move(x));
    EXPECT_TRUE(allclose(x, full({100}, 2.0f)));
  });
  EXPECT_TRUE(array_equal(start, full({100}, 10.0f)));
}

TEST(TransformThreads, OnePullbackForAll) {
  const Array x = linspace(0.1f, 2.0f, 12);
  const auto [value, pullback] = vjp(wave, x);
  const Array want = pullback(array(1.0f));
  const auto& pull = pullback;
  on_all([&](int) {
    for (int n = 0; n < 20; ++n) EXPECT_TRUE(array_equal(pull(array(1.0f)), want));
  });
}

}  // namespace threads_test
}  // namespace spruce
