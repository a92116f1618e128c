// SPDX-License-Identifier: Apache-2.0
// Functions that are made of others, or whose primitive has another name, say their own.
#include <gtest/gtest.h>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"
#include "tests/core/message.h"

namespace spruce {
namespace {

TEST(Errors, BearTheNameThatWasCalled) {
  const Array a = ones({3, 4}), b = ones({4, 5}), truth = ones({2}, bool_);
  const Array u8 = zeros({2}, uint8);
  const auto starts = [](const auto& f, const std::string& with) {
    const std::string text = message(f);
    EXPECT_EQ(text.substr(0, with.size()), with) << text;
  };
  starts([&] { return a % b; }, "remainder: f32[3,4], f32[4,5] do not broadcast");
  starts([&] { return remainder(truth, truth); }, "remainder: takes numbers, not bool");
  starts([&] { return floor_divide(a, b); }, "floor_divide: f32[3,4], f32[4,5] do not");
  starts([&] { return fmin(a, b); }, "fmin: f32[3,4], f32[4,5] do not");
  starts([&] { return fmax(a, b); }, "fmax: f32[3,4], f32[4,5] do not");
  starts([&] { return heaviside(a, b); }, "heaviside: f32[3,4], f32[4,5] do not");
  starts([&] { return lcm(a, a); }, "lcm: takes integers, got f32[3,4]");
  starts([&] { return isclose(a, b); }, "isclose: shapes [3,4] and [4,5] do not");
  starts([&] { return -truth; }, "negative: takes numbers, not bool");
  starts([&] { return ~a; }, "bitwise_not: takes bool or integers");
  starts([&] { return a << a; }, "left_shift: takes integers");
  starts([&] { return a >> a; }, "right_shift: takes integers");
  starts([&] { return power(truth, 2); }, "power: takes numbers, not bool");
  starts([&] { return u8 - 300; }, "subtract: the number 300 does not fit");
  starts([&] { return u8 < 300; }, "less: the number 300 does not fit");
  starts([&] { return power(a, Array()); }, "array: this Array is empty");
}

}  // namespace
}  // namespace spruce
