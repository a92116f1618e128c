// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels on cuda:0 (the emulator): arguments that take a branch of their own, results
// at the ends of a dtype's range, vectors of the smallest elements.
#include <limits>

#include "tests/cuda/large_case.h"

namespace spruce {
namespace elementwise_test {

using large_cases_test::check;
using large_cases_test::numbers;

SampleInput given(Dtype d, std::vector<double> values) {
  SampleInput in = numbers(d, {static_cast<int64_t>(values.size())});
  in.values = std::move(values);
  return in;
}

TEST(CudaElementwise, AnglesFarFromZero) {
  for (const Dtype d : {float32, float64}) {
    for (const char* f : {"sin", "cos", "tan"}) {
      check(f, {numbers(d, {1001}, -1e6, 1e6)});
      check(f, {given(d, {0.5, 1e7, -1e20, 1e38, 2, -1e12, 3})});
    }
    check("rem", {numbers(d, {1001}, -1e30, 1e30), numbers(d, {1001}, 1, 3)});
  }
}

TEST(CudaElementwise, PowersAtTheEndsOfTheRange) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const Dtype d : {float32, float64}) {
    const double ends = d == float32 ? 110 : 760;
    for (const char* f : {"exp", "expm1", "tanh"}) {
      check(f, {numbers(d, {2001}, -ends, ends)});
      check(f, {given(d, {kInf, -kInf, 1e30, -1e30, 0, 1e-30})});
    }
  }
}

TEST(CudaElementwise, SmallElementsInVectors) {
  for (const Dtype d : {uint8, int8, bfloat16}) {
    for (const int64_t n : {1, 15, 16, 33, 1000, 4096})
      check("add", {numbers(d, {n}, 0, 50), numbers(d, {n}, 0, 50)});
    check("mul", {numbers(d, {7, 48}, 0, 10), numbers(d, {7, 48}, 0, 10)});
    check("mul", {numbers(d, {7, 9, 5}, 0, 10), numbers(d, {7, 9, 5}, 0, 10)});
  }
}

TEST(CudaElementwise, AtAnyAddress) {
  Device& gpu = test_device::emulated_device();
  for (const Dtype d : {uint8, bfloat16, float32}) {
    const Array xs = astype(arange(4 * 1001) % 97, d).reshape({4, 1001});
    const auto f = jit([](const Array& all) {
      return scan([](const Array& state, const Array& row) { return std::pair(state, row + row); },
                  all[0], all);
    });
    const Array want = std::get<1>(f(xs));
    const Array got = to_device(std::get<1>(f(to_device(xs, gpu))), cpu_device());
    properties::expect_same({got}, {want}, "at any address");
  }
}

}  // namespace elementwise_test
}  // namespace spruce
