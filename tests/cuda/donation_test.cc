// SPDX-License-Identifier: Apache-2.0
// Memory of arguments that are moved into a compiled function, on the emulator.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "spruce/cuda.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"

namespace spruce {
namespace cuda_donation_test {

using test_device::emulated_device;

const void* place_of(const Array& x) { return internal::mutable_data(x); }

Array ramp(const Shape& shape) {
  Array x = reshape(arange(shape.numel()), shape);
  return 0.25f * x.astype(Dtype::kFloat32) - 3.0f;
}

// Adam in two lines: three arrays of the state are read and written by one kernel.
TEST(CudaDonation, AStateThatMovesThroughKeepsItsMemory) {
  Device& gpu = emulated_device();
  const auto step = jit([](const Array& w, const Array& m, const Array& v, const Array& g) {
    const Array m1 = 0.9f * m + 0.1f * g, v1 = 0.5f * v + 0.5f * g * g;
    return std::tuple(w - m1 / (sqrt(v1) + 1.0f), m1, v1);
  });
  const Array g = ramp({40, 50});
  Array w = ones({40, 50}), m = zeros({40, 50}), v = zeros({40, 50});
  Array dw = to_device(w, gpu), dm = to_device(m, gpu), dv = to_device(v, gpu);
  const Array dg = to_device(g, gpu);
  const void *first = place_of(dw), *second = place_of(dm), *third = place_of(dv);
  std::tie(dw, dm, dv) = step(std::move(dw), std::move(dm), std::move(dv), dg);
  const int64_t before = cuda::memory(gpu).in_use;
  for (int i = 0; i < 5; ++i) {
    std::tie(dw, dm, dv) = step(std::move(dw), std::move(dm), std::move(dv), dg);
    EXPECT_EQ(place_of(dw), first);
    EXPECT_EQ(place_of(dm), second);
    EXPECT_EQ(place_of(dv), third);
    EXPECT_EQ(cuda::memory(gpu).in_use, before);
  }
  for (int i = 0; i < 6; ++i) std::tie(w, m, v) = step(w, m, v, g);
  EXPECT_TRUE(allclose(to_device(dw, cpu_device()), w));
  EXPECT_TRUE(allclose(to_device(dv, cpu_device()), v));
}

// Small leaves of several shapes are one equation with a kernel for each shape.
TEST(CudaDonation, LeavesOfSeveralShapesKeepTheirMemory) {
  Device& gpu = emulated_device();
  const auto step = jit([](const std::vector<Array>& leaves, const std::vector<Array>& change) {
    std::vector<Array> out;
    for (size_t i = 0; i < leaves.size(); ++i) out.push_back(leaves[i] - 0.5f * change[i]);
    return out;
  });
  std::vector<Array> leaves;
  for (int64_t i = 0; i < 12; ++i) leaves.push_back(to_device(ones({4, 6 + i % 3}), gpu));
  const std::vector<Array> change = leaves;
  std::vector<const void*> places;
  for (Array& x : leaves) {
    x = x + 1.0f;
    places.push_back(place_of(x));
  }
  const std::vector<Array> next = step(std::move(leaves), change);
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(place_of(next[i]), places[i]) << i;
    EXPECT_EQ(next[i].to_vector<float>(), std::vector<float>(4 * (6 + i % 3), 1.5f));
  }
}

TEST(CudaDonation, WhatSomebodyHoldsIsNotOverwritten) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x) { return 2.0f * x + 1.0f; });
  Array x = to_device(ramp({8}), gpu);
  const Array kept = x;
  const std::vector<float> before = kept.to_vector<float>();
  x = f(std::move(x));
  EXPECT_EQ(kept.to_vector<float>(), before);
  EXPECT_NE(place_of(x), place_of(kept));
  Array y = f(kept);
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
}

template <class F>
void expect_as_on_the_cpu(const F& f, const Array& x) {
  Device& gpu = emulated_device();
  const auto g = jit(f);
  const std::vector<float> want = g(x).template to_vector<float>();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(g(to_device(x, gpu)).template to_vector<float>(), want) << "call " << i;
  }
}

// Elements that other threads read, before or while the result is written.
TEST(CudaDonation, WhatIsReadElsewhereIsNotOverwrittenTooSoon) {
  const Array x = ramp({16, 16});
  expect_as_on_the_cpu([](const Array& v) { return v - max(v); }, x);
  expect_as_on_the_cpu([](const Array& v) { return v - max(v, 0, {.keepdims = true}); }, x);
  expect_as_on_the_cpu([](const Array& v) { return v + transpose(v); }, x);
  expect_as_on_the_cpu([](const Array& v) { return flip(v, 0) * 2.0f; }, x);
  expect_as_on_the_cpu([](const Array& v) { return cumsum(v, 0); }, x);
  expect_as_on_the_cpu([](const Array& v) { return v + reshape(v[0], {1, 16}); }, x);
}

// As a cache of keys and values: only the row is written.
TEST(CudaDonation, AnUpdatedRowLeavesTheOthersWhereTheyAre) {
  Device& gpu = emulated_device();
  const auto put = jit([](const Array& cache, const Array& row, const Array& at) {
    return dynamic_update_slice(cache, row, {at, Array(int64_t{0})});
  });
  Array cache = to_device(zeros({6, 4}), gpu);
  const void* place = place_of(cache);
  for (int i = 0; i < 6; ++i) {
    const Array row = to_device(full({1, 4}, static_cast<float>(i)), gpu);
    cache = put(std::move(cache), row, to_device(Array(int64_t{i}), gpu));
    EXPECT_EQ(place_of(cache), place);
  }
  const std::vector<float> got = cache.to_vector<float>();
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(i / 4));
}

// Its last reader is an equation before the one that writes the result.
TEST(CudaDonation, AnInputOfWhichNothingIsNeededAnyMore) {
  Device& gpu = emulated_device();
  const auto f = jit([](const Array& x, const Array& w) { return tanh(matmul(matmul(x, w), w)); });
  const Array w = to_device(ramp({8, 8}), gpu);
  Array x = to_device(ones({8, 8}), gpu);
  const std::vector<float> want = f(x, w).to_vector<float>();
  const void* place = place_of(x);
  x = f(std::move(x), w);
  EXPECT_EQ(place_of(x), place);
  EXPECT_EQ(x.to_vector<float>(), want);
}

}  // namespace cuda_donation_test
}  // namespace spruce
