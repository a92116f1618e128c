// SPDX-License-Identifier: Apache-2.0
// The device as users see it, on the emulator.
#include "spruce/cuda.h"

#include <gtest/gtest.h>

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

}  // namespace cuda_device_test
}  // namespace spruce
