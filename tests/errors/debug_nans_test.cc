// SPDX-License-Identifier: Apache-2.0
// NaN checks on request: the operation that makes the first one is named, wherever it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spruce/spruce.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace spruce {
namespace debug_nans_test {

using testing::HasSubstr;
using testing::StartsWith;

class DebugNans : public testing::Test {
 protected:
  DebugNans() : before_(debug_nans()) { set_debug_nans(true); }
  ~DebugNans() override { set_debug_nans(before_); }

 private:
  bool before_;
};

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// NaN where x is negative, by its second operation.
Array f(const Array& x) { return sum(exp(sqrt(x + 0.0f))); }

TEST_F(DebugNans, NamesTheFirstOperation) {
  EXPECT_THAT(message_of([] {
                f(array({1.0f, -1.0f}));
              }),
              StartsWith("sqrt(f32[2]): the result f32[2] has a NaN"));
  EXPECT_TRUE(allclose(f(array({1.0f, 4.0f})), array(2.7182818f + 7.389056f)));
}

// Step by step, as it runs where results are checked.
TEST_F(DebugNans, AScanWithACarryGivesTheSame) {
  const auto step = [](const std::pair<Array, Array>& c, const std::pair<Array, Array>& x) {
    const Array next = c.first * x.first + x.second;
    return std::pair{std::pair{next, c.second + 1}, std::pair{next - c.first, c.second}};
  };
  const std::pair xs{array({2.0f, 3.0f, 4.0f}), array({1.0f, -1.0f, 0.5f})};
  for (const bool reverse : {false, true}) {
    const auto run = [&] {
      return scan(step, std::pair{array(1.0f), array(7)}, xs, {.reverse = reverse});
    };
    const auto checked = run();
    set_debug_nans(false);
    const auto plain = run();
    set_debug_nans(true);
    const std::vector<Array> got = tree::leaves(checked), want = tree::leaves(plain);
    ASSERT_EQ(got.size(), 4u);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(array_equal(got[i], want[i])) << i;
    EXPECT_EQ(got[0].item<float>(), reverse ? 26.0f : 32.5f);
  }
  EXPECT_THAT(message_of([] {
                scan(
                    [](const Array& c, const Array& x) {
                      return std::pair{sqrt(c - x), c};
                    },
                    4.0f, array({0.0f, 9.0f}));
              }),
              StartsWith("sqrt(f32[]): the result f32[] has a NaN"));
}

TEST_F(DebugNans, InsideOfTransforms) {
  const Array x = array({1.0f, -1.0f});
  EXPECT_THAT(message_of([&] { grad(f)(x); }), StartsWith("sqrt("));
  EXPECT_THAT(message_of([&] { vmap(f)(x); }), StartsWith("sqrt("));
  EXPECT_THAT(message_of([&] { jit(f)(x); }), StartsWith("sqrt("));
}

TEST_F(DebugNans, TheGradientAloneIsNaN) {
  const auto g = [](const Array& x) { return sum(where(x > 0.0f, sqrt(x), 0.0f)); };
  EXPECT_EQ(g(array({0.0f})).item<float>(), 0.0f);
  EXPECT_THAT(message_of([&] { grad(g)(array({0.0f})); }),
              HasSubstr("has a NaN and the inputs have none"));
}

TEST_F(DebugNans, DoesNotBlameWhatGotOne) {
  const Array nan = array({std::nanf(""), 1.0f});
  EXPECT_NO_THROW(exp(nan));
  EXPECT_NO_THROW(sum(nan));
}

TEST_F(DebugNans, OffMeansOff) {
  set_debug_nans(false);
  EXPECT_TRUE(any(isnan(f(array({1.0f, -1.0f})))));
}

// The next test runs this one again in a process that has the variable.
TEST(DebugNansChild, IsAsTheEnvironmentSays) {
  const char* variable = std::getenv("SPRUCE_DEBUG_NANS");
  const bool on = variable != nullptr && std::string(variable) == "1";
  EXPECT_EQ(debug_nans(), on);
  if (on) std::cout << message_of([] { f(array({-1.0f})); }) << std::endl;
}

TEST_F(DebugNans, EnvironmentTurnsItOn) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "SPRUCE_DEBUG_NANS=1 '" + self + "' --gtest_filter='DebugNansChild.*'";
  FILE* child = popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (int c; (c = std::fgetc(child)) != EOF;) output += static_cast<char>(c);
  EXPECT_EQ(pclose(child), 0);
  EXPECT_THAT(output, HasSubstr("sqrt(f32[1]): the result f32[1] has a NaN"));
}

}  // namespace debug_nans_test
}  // namespace spruce
