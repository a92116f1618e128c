// SPDX-License-Identifier: Apache-2.0
// What users are told where a GPU is not there, too small or broken: on the emulator.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "spruce/cuda.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_errors_test {

using test_device::emulated_device;
using testing::AllOf;
using testing::HasSubstr;

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "no DeviceError";
}

bool waits_always() {
  const char* value = std::getenv("SPRUCE_CUDA_SYNC");
  return value != nullptr && std::string_view(value) == "1";
}

TEST(CudaErrors, AnOldDriverIsNamed) {
  emulated_device();
  cuda_emulator::set_driver_version(12040);
  EXPECT_THAT(message([] { cuda::device(0); }),
              AllOf(HasSubstr("the driver of this machine is for CUDA 12.4"),
                    HasSubstr("install a newer driver")));
  EXPECT_FALSE(cuda::is_available());
  EXPECT_TRUE(cuda::devices().empty());
  cuda_emulator::set_driver_version(CUDA_VERSION);
  EXPECT_TRUE(cuda::is_available());
}

TEST(CudaErrors, AMachineWithoutDevices) {
  emulated_device();
  cuda_emulator::set_device_count(0);
  EXPECT_THAT(message([] { cuda::device(0); }),
              AllOf(HasSubstr("no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)"),
                    HasSubstr("cpu_device()")));
  cuda_emulator::set_device_count(1);
}

TEST(CudaErrors, AnIndexThatIsNotThere) {
  emulated_device();
  for (const int index : {-1, 1, 7}) {
    EXPECT_THAT(message([&] { cuda::device(index); }),
                AllOf(HasSubstr("there is no device " + std::to_string(index)),
                      HasSubstr("the driver shows 1")));
  }
}

TEST(CudaErrors, AnotherDeviceIsNoCudaDevice) {
  emulated_device();
  EXPECT_THAT(message([] { cuda::memory(cpu_device()); }), HasSubstr("cpu is no CUDA device"));
  EXPECT_THAT(message([] { cuda::synchronize(cpu_device()); }), HasSubstr("cpu is no CUDA device"));
}

// The step before is whole, and the next one goes on.
TEST(CudaErrors, NoMemoryInTheMiddleOfAStep) {
  Device& gpu = emulated_device();
  const DefaultDevice here(gpu);
  const auto step =
      jit([](const Array& w, const Array& x) { return w - 0.5f * sum(exp(x) * cumsum(x, 0), 0); });
  Array w = zeros({1000});
  const Array x = ones({8, 1000});
  w = step(w, x);
  const std::vector<float> before = w.to_vector<float>();
  const int64_t in_use = cuda::memory(gpu).in_use;
  cuda_emulator::set_memory(cuda_emulator::memory_in_use() + 3000);
  const std::string said = message([&] { w = step(w, x); });
  EXPECT_THAT(said,
              AllOf(HasSubstr("there is no memory on the device cuda:0"),
                    HasSubstr("hold " + std::to_string(in_use)), HasSubstr("smaller batches")));
  cuda_emulator::set_memory(size_t{8} << 30);
  EXPECT_EQ(w.to_vector<float>(), before);
  EXPECT_EQ(cuda::memory(gpu).in_use, in_use);
  EXPECT_NO_THROW(w = step(w, x));
  EXPECT_NE(w.to_vector<float>(), before);
}

TEST(CudaErrors, AFailedKernelIsNamedWhereItsResultIsRead) {
  Device& gpu = emulated_device();
  const Array x = to_device(array({1.0f, 2.0f}), gpu);
  cuda::synchronize();
  cuda_emulator::fail_next_kernel();
  Array y;
  if (waits_always()) {
    const std::string said = message([&] { y = tanh(x); });
    EXPECT_THAT(said, AllOf(HasSubstr("tanh"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                            HasSubstr("errors_test.cc")));
  } else {
    EXPECT_NO_THROW(y = tanh(x));  // it has not run yet
    EXPECT_THAT(message([&] { y.to_vector<float>(); }),
                AllOf(HasSubstr("tanh"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                      HasSubstr("SPRUCE_CUDA_SYNC=1")));
  }
  // The device takes no more work.
  EXPECT_THAT(message([&] { cuda::synchronize(); }), HasSubstr("the device is lost"));
  EXPECT_THAT(message([&] { (x + x).to_vector<float>(); }),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  cuda_emulator::forget_error();
  EXPECT_EQ((x + x).to_vector<float>(), (std::vector<float>{2, 4}));
}

}  // namespace cuda_errors_test
}  // namespace spruce
