// SPDX-License-Identifier: Apache-2.0
// Products with a bias and an activation at their end, and their precision, on the emulator.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spruce/cuda.h"
#include "spruce/spruce.h"
#include "tests/cuda/emulated_device.h"
#include "tests/cuda/emulator/emulator.h"

namespace spruce {
namespace cuda_products_test {

using test_device::emulated_device;

Array some(int seed, const Shape& shape, Dtype dtype = float32) {
  return random::normal(Key(static_cast<uint64_t>(seed)), shape).astype(dtype);
}

int64_t kernels() { return cuda_emulator::counts().kernels; }

// f(x, w, b) on the device is what it is on the CPU, and takes so many kernels besides the products
// of the library.
template <class F>
void expect_kernels(int64_t want, const F& f, const Array& x, const Array& w, const Array& b,
                    double tolerance = 1e-5) {
  Device& gpu = emulated_device();
  const auto g = jit(f);
  const Array expected = g(x, w, b).astype(float64);
  const Array dx = to_device(x, gpu), dw = to_device(w, gpu), db = to_device(b, gpu);
  for (int i = 0; i < 3; ++i) {
    const int64_t before = kernels();
    const Array got = to_device(g(dx, dw, db), cpu_device());
    EXPECT_EQ(kernels() - before, want) << "call " << i;
    EXPECT_TRUE(allclose(got.astype(float64), expected, {.rtol = tolerance, .atol = tolerance}))
        << "call " << i << "\n"
        << got << "\n"
        << expected;
  }
}

Array layer(const Array& x, const Array& w, const Array& b) { return matmul(x, w) + b; }

TEST(CudaProducts, ABiasAndAnActivationAreTheEndOfTheProduct) {
  const Array x = some(1, {6, 40}), w = some(2, {40, 24}), b = some(3, {24});
  expect_kernels(0, layer, x, w, b);
  expect_kernels(
      0, [](auto& u, auto& v, auto& c) { return nn::relu(layer(u, v, c)); }, x, w, b);
  expect_kernels(
      0,
      [](auto& u, auto& v, auto& c) {
        return nn::gelu(layer(u, v, c), {.approximate = nn::GeluApproximation::kTanh});
      },
      x, w, b);
  const Array sequences = some(4, {3, 5, 40});
  expect_kernels(
      0, [](auto& u, auto& v, auto& c) { return nn::relu(layer(u, v, c)); }, sequences, w, b);
}

TEST(CudaProducts, AnActivationAlone) {
  const Array x = some(1, {6, 40}), w = some(2, {40, 24}), b = some(3, {24});
  expect_kernels(
      1, [](auto& u, auto& v, auto& c) { return nn::relu(matmul(u, v)) * c; }, x, w, b);
}

TEST(CudaProducts, ABiasThatTheFunctionHoldsAndOneOfAFewElements) {
  const Array x = some(1, {6, 12}), w = some(2, {12, 8}), b = some(3, {8});
  Device& gpu = emulated_device();
  const Array held = some(5, {8}), there = to_device(held, gpu);
  expect_kernels(
      0,
      [&](auto& u, auto& v, auto&) {
        return nn::relu(matmul(u, v) + (&u.device() == &gpu ? there : held));
      },
      x, w, b);
  expect_kernels(0, layer, x, w, b);
}

TEST(CudaProducts, Halves) {
  for (const Dtype d : {float16, bfloat16}) {
    const Array x = some(1, {6, 40}, d), w = some(2, {40, 24}, d), b = some(3, {24}, d);
    expect_kernels(
        0, [](auto& u, auto& v, auto& c) { return nn::relu(layer(u, v, c)); }, x, w, b,
        d == float16 ? 8e-3 : 6e-2);
  }
}

// What is no end of a product stays a kernel of its own.
TEST(CudaProducts, OtherSumsAreNoEnds) {
  const Array x = some(1, {24, 40}), w = some(2, {40, 24}), b = some(3, {24});
  // Along the rows.
  expect_kernels(
      1, [](auto& u, auto& v, auto& c) { return matmul(u, v) + expand_dims(c, 1); }, x, w, b);
  // The product is needed besides.
  expect_kernels(
      1,
      [](auto& u, auto& v, auto& c) {
        const Array y = matmul(u, v);
        return nn::relu(y + c) * y;
      },
      x, w, b);
  // The bias is computed on the way.
  expect_kernels(
      1, [](auto& u, auto& v, auto& c) { return matmul(u, v) + exp(c) + 1.0f; }, x, w, b);
  // f64, for which the library has none.
  expect_kernels(1, layer, x.astype(float64), w.astype(float64), b.astype(float64));
}

TEST(CudaProducts, NanAndInfinityGoThroughTheEnd) {
  Device& gpu = emulated_device();
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  const auto f = jit([](auto& u, auto& v, auto& c) { return nn::relu(layer(u, v, c)); });
  const Array x = array({{1.0f}, {nan}, {inf}, {-inf}});
  const std::vector<float> got =
      f(to_device(x, gpu), to_device(ones({1, 2}), gpu), to_device(zeros({2}), gpu))
          .to_vector<float>();
  EXPECT_EQ(got[0], 1);
  EXPECT_TRUE(std::isnan(got[2])) << "relu of NaN is NaN";
  EXPECT_EQ(got[4], inf);
  EXPECT_EQ(got[6], 0);
}

// The algorithm is one for the addresses that there are: those of slices and of parts of a
// concatenation are multiples of an element alone.
TEST(CudaProducts, OperandsStandWhereTheyMay) {
  const Array x = some(1, {32, 128}), w = some(2, {64, 9}), b = some(3, {9});
  const auto expect_same = [&](const auto& f) {
    Device& gpu = emulated_device();
    const auto g = jit(f);
    const Array want = g(x, w, b);
    const Array dx = to_device(x, gpu), dw = to_device(w, gpu), db = to_device(b, gpu);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(allclose(to_device(g(dx, dw, db), cpu_device()), want, {.atol = 1e-4}));
  };
  const auto part = [](const Array& a, int64_t from) {
    return a[{Slice(), Slice(from, from + 64)}];
  };
  expect_same([&](auto& u, auto& v, auto&) { return matmul(part(u, 1), v); });
  expect_same(
      [&](auto& u, auto& v, auto&) { return matmul(part(u, 2), v) + matmul(part(u, 0), v); });
  expect_same([&](auto& u, auto& v, auto&) {
    return concatenate({part(u, 0), matmul(part(u, 0), v), matmul(part(u, 3), v)}, 1);
  });
  expect_same([&](auto& u, auto& v, auto& c) {
    return matmul(u[{Slice(), Slice(0, 64)}], v[{Slice(), Slice(1, 9)}]) + c[Slice(1, 9)];
  });
}

TEST(CudaProducts, WhatTheLibraryHasNoAlgorithmForIsOurs) {
  const Array x = some(1, {6, 17}), w = some(2, {17, 5}), b = some(3, {5});
  cuda_emulator::set_has_algorithms(false);
  expect_kernels(2, layer, x, w, b);
  expect_kernels(
      2, [](auto& u, auto& v, auto& c) { return nn::relu(layer(u, v, c)); }, x, w, b);
  cuda_emulator::set_has_algorithms(true);
}

// Factors with 10 bits of the fraction, at once and in functions that were compiled before.
TEST(CudaProducts, ThePrecisionIsTheUsersChoice) {
  Device& gpu = emulated_device();
  EXPECT_EQ(cuda::matmul_precision(), cuda::MatmulPrecision::kFloat32);
  const Array x = to_device(full({4, 8}, 1.0f + 1.0f / 4096), gpu),
              w = to_device(ones({8, 4}), gpu);
  const auto f = jit([](auto& u, auto& v) { return matmul(u, v); });
  const auto first = [](const Array& y) { return y.to_vector<float>()[0]; };
  const float exact = 8.0f + 8.0f / 4096;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(first(f(x, w)), exact);
  cuda::set_matmul_precision(cuda::MatmulPrecision::kTf32);
  EXPECT_EQ(first(matmul(x, w)), 8.0f);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(first(f(x, w)), 8.0f);
  const Array wide = x.astype(float64);
  EXPECT_EQ(matmul(wide, w.astype(float64)).to_vector<double>()[0], double{exact});
  cuda::set_matmul_precision(cuda::MatmulPrecision::kFloat32);
  EXPECT_EQ(first(matmul(x, w)), exact);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(first(f(x, w)), exact);
}

}  // namespace cuda_products_test
}  // namespace spruce
