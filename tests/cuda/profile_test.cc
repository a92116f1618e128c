// SPDX-License-Identifier: Apache-2.0
// Profiles with times of the device, and ranges of NVTX, on the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "spruce/cuda.h"
#include "spruce/cuda/driver/tables.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_profile_test {

using test_device::emulated_device;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kStep = [](const Array& w, const Array& x) { return sort(matmul(x, w), 0); };

TEST(CudaProfile, HasTheTimesOfTheDeviceByEquationAndLine) {
  Device& gpu = emulated_device();
  const auto f = jit(kStep);
  const Array w = to_device(ones({16, 16}), gpu), x = to_device(ones({16, 16}), gpu);
  const std::vector<float> want = f(w, x).to_vector<float>();
  const int64_t graphs = cuda_emulator::counts().graphs;
  std::vector<Array> results;
  const Profile p = profile([&] {
    for (int i = 0; i < 5; ++i) results.push_back(f(w, x));
  });
  EXPECT_EQ(cuda_emulator::counts().graphs, graphs + 5) << "the host has no part in the times";
  for (const Array& y : results) EXPECT_EQ(y.to_vector<float>(), want);
  ASSERT_EQ(p.rows.size(), 2u) << p.text();
  double sum = 0;
  for (const Profile::Row& r : p.rows) {
    EXPECT_EQ(r.calls, 5) << r.equation;
    EXPECT_GT(r.seconds, 0) << r.equation;
    EXPECT_FALSE(r.nested);
    EXPECT_THAT(r.place, HasSubstr("profile_test.cc:"));
    EXPECT_THAT(r.equation, HasSubstr("f32[16,16]@cuda:0"));
    sum += r.seconds;
  }
  EXPECT_THAT(p.text(), testing::AllOf(HasSubstr(" dot_general "), HasSubstr(" sort ")));
  EXPECT_LE(sum, p.seconds);
  ASSERT_EQ(p.events.size(), 10u);
  for (size_t i = 1; i < p.events.size(); ++i) {
    EXPECT_GE(p.events[i].begin, p.events[i - 1].begin + p.events[i - 1].duration - 2)
        << "steps follow each other";
  }
  EXPECT_TRUE(profile([] {}).rows.empty());
  EXPECT_EQ(f(w, x).to_vector<float>(), want);
}

TEST(CudaProfile, CopiesOfResultsAreARow) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return std::tuple(x, exp(x)); });
  const Array x = to_device(ones({8}), gpu);
  (void)f(x);
  const Profile p = profile([&] { (void)f(x); });
  EXPECT_THAT(p.text(), testing::AllOf(HasSubstr(" exp "), HasSubstr("copies of results")));
}

TEST(CudaProfile, StepsOfALoopAreWithinIt) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) {
    return fori_loop(
        0, 4, [](const Array&, const Array& v) { return sort(v * 2.0f); }, x);
  });
  const Array x = to_device(ones({8}), gpu);
  (void)f(x);
  const Profile p = profile([&] { (void)f(x); });
  int64_t outer = 0, inner = 0;
  for (const Profile::Row& r : p.rows) {
    if (r.equation.find(" = sort") == std::string::npos) {
      outer += r.nested ? 0 : r.calls;
    } else {
      EXPECT_TRUE(r.nested) << p.text();
      inner += r.calls;
    }
  }
  EXPECT_EQ(inner, 4) << p.text();
  EXPECT_GE(outer, 1) << p.text();
}

TEST(CudaProfile, AFailedKernelEndsIt) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return exp(x) + 1.0f; });
  const Array x = to_device(ones({8}), gpu);
  (void)f(x).to_vector<float>();
  cuda_emulator::fail_next_kernel();
  EXPECT_THROW((void)profile([&] { (void)f(x); }), DeviceError);
  cuda_emulator::forget_error();
  EXPECT_EQ(profile([&] { (void)f(x); }).rows.size(), 1u);
}

bool ranges_wanted() {
  const char* value = std::getenv("SPRUCE_CUDA_NVTX");
  return value != nullptr && std::string_view(value) == "1";
}

TEST(CudaProfile, RangesOfNvtxNameOperationsAndLines) {
  Device& gpu = emulated_device();
  const Array x = to_device(ones({8}), gpu);
  const auto f = jit([](const Array& v) { return sort(v); });
  (void)f(x);
  (void)cuda_emulator::take_ranges();
  const Array y = exp(x);
  const std::vector<std::string> eager = cuda_emulator::take_ranges();
  const Array z = f(y);
  const std::vector<std::string> compiled = cuda_emulator::take_ranges();
  if (!ranges_wanted()) {
    EXPECT_THAT(eager, IsEmpty());
    EXPECT_THAT(compiled, IsEmpty());
    return;
  }
  EXPECT_THAT(eager, ElementsAre("exp", ""));
  EXPECT_THAT(compiled,
              ElementsAre("jit", testing::MatchesRegex("sort .*profile_test.cc:[0-9]+"), "", ""));
}

// The library itself, where it is: without a profiler its ranges do nothing.
TEST(CudaProfile, NvtxIsOpenedOrNamed) {
  emulated_device();
  cuda::replace_tables({});
  try {
    cuda::nvtx().nvtxRangePushA("a range");
    cuda::nvtx().nvtxRangePop();
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("NVTX, which SPRUCE_CUDA_NVTX=1 asks for"),
                                         HasSubstr("unset the variable")));
  }
  cuda_emulator::install();
}

}  // namespace cuda_profile_test
}  // namespace spruce
