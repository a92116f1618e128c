// SPDX-License-Identifier: Apache-2.0
// What users are told where a GPU is not there, too small or broken: on the emulator.
#include <cuda.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "spruce/cuda.h"
#include "spruce/cuda/driver/tables.h"
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

TEST(CudaErrors, AMachineWithoutADriver) {
  emulated_device();
  cuda::replace_tables({});  // the libraries of this machine
  const std::string said = message([] { cuda::device(0); });
  const bool available = cuda::is_available();
  const size_t devices = cuda::devices().size();
  cuda_emulator::install();
  if (said.find("CUDA driver") == std::string::npos) GTEST_SKIP() << "there is a driver: " << said;
  EXPECT_THAT(said, AllOf(HasSubstr("there is no CUDA driver on this machine (libcuda.so.1"),
                          HasSubstr("install NVIDIA's driver, or run on spruce::cpu_device()")));
  EXPECT_FALSE(available);
  EXPECT_EQ(devices, 0u);
}

// A library of the driver's name that has none of its functions, in a process of its own.
TEST(CudaErrors, ADriverThatLacksAFunctionIsNamed) {
  emulated_device();
  const std::string library = cuda_emulator::driver_without_functions();
  EXPECT_EXIT(
      {
        if (::dlopen(library.c_str(), RTLD_NOW) == nullptr) std::exit(2);
        cuda::replace_tables({});
        std::fputs(message([] { cuda::device(0); }).c_str(), stderr);
        std::exit(1);
      },
      testing::ExitedWithCode(1),
      "the CUDA driver of this machine is too old: it lacks cuInit; install one for CUDA");
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
  // What was moved in is whole: the memory of the second result is not there.
  const auto with_activations = jit([](const Array& p, const Array& y) {
    return std::pair{p - sum(y, 0), exp(y)};
  });
  const std::vector<float> later = w.to_vector<float>();
  cuda_emulator::set_memory(cuda_emulator::memory_in_use() + 3000);
  EXPECT_THAT(message([&] { with_activations(std::move(w), x); }), HasSubstr("there is no memory"));
  cuda_emulator::set_memory(size_t{8} << 30);
  ASSERT_TRUE(w.defined());
  EXPECT_EQ(w.to_vector<float>(), later);
  EXPECT_NO_THROW(w = with_activations(std::move(w), x).first);
  EXPECT_NE(w.to_vector<float>(), later);
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

// As __trap() in a kernel does, or an assertion, in a graph that is replayed.
TEST(CudaErrors, AKernelThatTrapsInACompiledFunction) {
  Device& gpu = emulated_device();
  for (const int result : {int{CUDA_ERROR_LAUNCH_FAILED}, int{CUDA_ERROR_ILLEGAL_INSTRUCTION}}) {
    const auto f = jit([](const Array& x) { return exp(x) * 2.0f; });
    const Array x = to_device(array({0.0f, 0.0f}), gpu);
    std::vector<float> before;
    for (int i = 0; i < 4; ++i) before = f(x).to_vector<float>();
    cuda_emulator::fail_next_kernel(result);
    EXPECT_THAT(message([&] { (void)f(x).to_vector<float>(); }),
                AllOf(HasSubstr("jit"),
                      HasSubstr(result == CUDA_ERROR_LAUNCH_FAILED
                                    ? "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)"
                                    : "an illegal instruction was encountered"),
                      HasSubstr("the device is lost for this program: start it again")));
    EXPECT_THAT(message([&] { (void)f(x).to_vector<float>(); }),
                HasSubstr("the device is lost for this program"));
    cuda_emulator::forget_error();
    EXPECT_EQ(f(x).to_vector<float>(), before);
  }
}

// As after cuDevicePrimaryCtxReset() by another part of the program.
TEST(CudaErrors, ALostContext) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return exp(x); });
  const Array x = to_device(array({0.0f, 1.0f}), gpu);
  (void)f(x).to_vector<float>();
  cuda_emulator::lose_context();
  const auto lost = AllOf(HasSubstr("context is destroyed (CUDA_ERROR_CONTEXT_IS_DESTROYED)"),
                          HasSubstr("the device is lost for this program"));
  EXPECT_THAT(message([&] { (void)x.to_vector<float>(); }), lost);
  EXPECT_THAT(message([&] { (void)(x + x).to_vector<float>(); }), lost);
  EXPECT_THAT(message([&] { (void)f(x).to_vector<float>(); }), lost);
  EXPECT_THAT(message([&] { (void)to_device(array({1.0f}), gpu); }), lost);
  EXPECT_THAT(message([&] { cuda::synchronize(gpu); }), lost);
  EXPECT_NO_THROW(Array(x.reshape({2, 1})));
  const Array on_host = to_device(array({1.0f, 2.0f}), cpu_device());
  EXPECT_EQ((on_host + on_host).to_vector<float>(), (std::vector<float>{2, 4}));
  cuda_emulator::forget_error();
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 1}));
}

}  // namespace cuda_errors_test
}  // namespace spruce
