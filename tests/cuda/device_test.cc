// SPDX-License-Identifier: Apache-2.0
// The device as users see it, on the emulator.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <tuple>

#include "spruce/cuda.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_device_test {

using test_device::emulated_device;

TEST(CudaDevice, ArraysGoThereAndBack) {
  Device& gpu = emulated_device();
  const Array x = to_device(array({1.0f, 2.0f, 3.0f}), gpu);
  EXPECT_EQ(x.device().name(), "cuda:0");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST(CudaDevice, OperationsRunThere) {
  Device& gpu = emulated_device();
  const int64_t before = cuda_emulator::counts().kernels;
  const Array x = to_device(array({1.0f, 2.0f, 3.0f}), gpu);
  const Array y = 2.0f * x + x;
  EXPECT_EQ(&y.device(), &gpu);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(cuda_emulator::counts().kernels, before + 2);
}

TEST(CudaDevice, CompiledFunctionsRunThere) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return sum(exp(x) * 2.0f, {1}) + 1.0f; });
  const Array x = to_device(array({{0.0f, 1.0f}, {2.0f, 3.0f}}), gpu);
  const std::vector<float> want = f(array({{0.0f, 1.0f}, {2.0f, 3.0f}})).to_vector<float>();
  for (int i = 0; i < 4; ++i) {
    const Array y = f(x);
    EXPECT_EQ(&y.device(), &gpu);
    const std::vector<float> got = y.to_vector<float>();
    for (size_t k = 0; k < want.size(); ++k) EXPECT_FLOAT_EQ(got[k], want[k]);
  }
}

// The third call with the same addresses is a replay.
TEST(CudaDevice, CompiledFunctionsAreReplayedAsGraphs) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x, const Array& w) { return sum(tanh(matmul(x, w)), 0); });
  const Array x = to_device(ones({4, 8}), gpu), w = to_device(ones({8, 3}), gpu);
  const std::vector<float> want = f(x, w).to_vector<float>();
  const int64_t before = cuda_emulator::counts().graphs;
  std::vector<Array> kept;  // so that each call has other addresses
  for (int i = 0; i < 20; ++i) {
    kept.push_back(f(x, w));
    EXPECT_EQ(kept.back().to_vector<float>(), want);
  }
  kept.clear();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(f(x, w).to_vector<float>(), want);
  EXPECT_GT(cuda_emulator::counts().graphs, before);
}

TEST(CudaDevice, ResultsMayBeInputsConstantsAndEachOther) {
  Device& gpu = emulated_device();
  const Array c = to_device(array({5.0f, 6.0f}), gpu);
  const auto f = jit([&](const Array& x) {
    const Array y = x * c;
    return std::tuple(x, y, y, c, reshape(y, {2, 1}), Array(3.0f));
  });
  const auto [x, y, again, constant, view, number] = f(to_device(array({1.0f, 2.0f}), gpu));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{5, 12}));
  EXPECT_EQ(again.to_vector<float>(), (std::vector<float>{5, 12}));
  EXPECT_EQ(constant.to_vector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{5, 12}));
  EXPECT_EQ(number.item<float>(), 3);
}

TEST(CudaDevice, LoopsAndBranchesOfCompiledFunctions) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) {
    const Array y = fori_loop(
        0, 5, [](const Array&, const Array& v) { return v * 2.0f + 1.0f; }, x);
    return cond(
        sum(y) > 10.0f, [](const Array& v) { return -v; }, [](const Array& v) { return v; }, y);
  });
  const Array x = array({1.0f, -2.0f, 0.5f});
  const Array got = f(to_device(x, gpu));
  EXPECT_EQ(&got.device(), &gpu);
  EXPECT_EQ(got.to_vector<float>(), f(x).to_vector<float>());
}

TEST(CudaDevice, OperationsDoNotWait) {
  Device& gpu = emulated_device();
  const Array x = to_device(ones({64}), gpu);
  const auto f = jit([](const Array& v) { return exp(v) + 1.0f; });
  (void)f(x);
  const int64_t before = cuda_emulator::counts().waits;
  Array y = x;
  for (int i = 0; i < 5; ++i) y = f(0.5f * y + x);
  if (std::getenv("SPRUCE_CUDA_SYNC") == nullptr) {
    EXPECT_EQ(cuda_emulator::counts().waits, before);
  }
  (void)y.to_vector<float>();
  EXPECT_GT(cuda_emulator::counts().waits, before);
}

TEST(CudaDevice, MemoryIsCounted) {
  Device& gpu = emulated_device();
  const int64_t before = cuda::memory(gpu).in_use;
  {
    const Array x = to_device(ones({1000}), gpu);
    EXPECT_GE(cuda::memory(gpu).in_use, before + 4000);
  }
  EXPECT_EQ(cuda::memory(gpu).in_use, before);
  EXPECT_GE(cuda::memory(gpu).peak, before + 4000);
  EXPECT_EQ(cuda::properties(gpu).compute_capability, 90);
}

TEST(CudaDevice, SeveralThreadsAtOnce) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return sum(exp(x) * x, 1); });
  const Array x = to_device(ones({16, 32}), gpu);
  const std::vector<float> want = f(x).to_vector<float>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) wrong += f(x * 1.0f).to_vector<float>() != want;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace cuda_device_test
}  // namespace spruce
