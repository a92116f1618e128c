// SPDX-License-Identifier: Apache-2.0
// C++ numbers have no derivative: what carries one is not read as such.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "spruce/core/io/io.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace read_under_grad_test {

using testing::HasSubstr;

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const TracerError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// f(x) under each transform that gives x a tangent.
template <class F>
void expect_refused(const F& f, const char* what) {
  const Array x = array(2.0f);
  EXPECT_THAT(message_of([&] { (void)grad(f)(x); }), HasSubstr(what));
  EXPECT_THAT(message_of([&] { (void)grad(grad(f))(x); }), HasSubstr(what));
  EXPECT_THAT(message_of([&] { (void)vjp(f, x); }), HasSubstr(what));
  EXPECT_THAT(message_of([&] { (void)linearize(f, x); }), HasSubstr(what));
  EXPECT_THAT(message_of([&] { (void)jvp(f, std::tuple{x}, std::tuple{x}); }), HasSubstr(what));
}

TEST(ReadUnderGrad, WhatCarriesADerivativeIsRefused) {
  expect_refused([](const Array& x) { return x * (2.0f * x).item<float>(); },
                 "item: a traced value of ");
  expect_refused([](const Array& x) { return x * x.to_vector<float>()[0]; },
                 "to_vector: a traced value of ");
  expect_refused([](const Array& x) { return x * x.data<float>()[0]; }, "data: a traced value of ");
  expect_refused([](const Array& x) { return x * x.item<float>(); },
                 "is read as C++ numbers, which have no derivative; read stop_gradient(x)");
}

TEST(ReadUnderGrad, StopGradientReadsTheValue) {
  const auto f = [](const Array& x) { return x * stop_gradient(3.0f * x).item<float>(); };
  EXPECT_EQ(grad(f)(array(2.0f)).item<float>(), 6.0f);
  EXPECT_EQ(grad(grad(f))(array(2.0f)).item<float>(), 0.0f);
  EXPECT_EQ(grad([](const Array& x) {
              return sum(x * array(stop_gradient(x).to_vector<float>()));
            })(array({2.0f, 3.0f}))[1]
                .item<float>(),
            3.0f);
}

TEST(ReadUnderGrad, WhatHasNoDerivativeIsReadAsItIs) {
  const Array other = array(5.0f);
  const auto f = [&](const Array& x) {
    float factor = other.item<float>();  // no traced value
    factor += floor(x).item<float>();    // no derivative
    factor += static_cast<float>(astype(x, int32).item<int>());
    factor += (x > 0.0f).item<bool>() ? 1.0f : 0.0f;
    if (x > 1.0f) factor += 1.0f;
    if (x) factor += 1.0f;
    std::ostringstream printed;
    printed << x;
    return x * factor;
  };
  EXPECT_EQ(grad(f)(array(2.5f)).item<float>(), 12.0f);
}

TEST(ReadUnderGrad, SavingWritesTheValue) {
  const std::string path = std::filesystem::temp_directory_path() / "spruce_read_under_grad.npy";
  (void)grad([&](const Array& x) {
    io::save_npy(path, 2.0f * x);
    return x;
  })(array(2.0f));
  EXPECT_EQ(io::load_npy(path).item<float>(), 4.0f);
  std::filesystem::remove(path);
}

}  // namespace read_under_grad_test
}  // namespace spruce
