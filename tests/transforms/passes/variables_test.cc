// SPDX-License-Identifier: Apache-2.0
// SPRUCE_PASSES and SPRUCE_LOG, each in a process of its own, since they are read once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace variables_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Compiles exp(x) * 2 + x with those variables and ends the process.
[[noreturn]] void compile_with(const char* passes, const char* log) {
  setenv("SPRUCE_PASSES", passes, 1);
  setenv("SPRUCE_LOG", log, 1);
  const auto f = jit([](const Array& x) { return exp(x) * 2.0f + x; });
  const bool right = f(zeros({2})).to_vector<float>() == std::vector<float>{2, 2};
  std::fflush(stderr);
  _exit(right ? 0 : 1);
}

class PassVariables : public testing::Test {
 protected:
  // The process starts anew instead of going on as a fork of one that has threads.
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  void TearDown() override { testing::FLAGS_gtest_death_test_style = "fast"; }
};

TEST_F(PassVariables, GraphsAreLoggedAfterEachPassThatChangedThem) {
  EXPECT_EXIT(compile_with("", "graphs"), testing::ExitedWithCode(0),
              AllOf(HasSubstr("spruce: graph: staged, 3 equations\n"),
                    HasSubstr("spruce: graph: fuse, 1 equations\n"), HasSubstr("fused"),
                    Not(HasSubstr("spruce: graph: one_hot")), Not(HasSubstr("warning"))));
}

TEST_F(PassVariables, APassIsLeftOut) {
  EXPECT_EXIT(compile_with("-fuse,-tiny", "graphs"), testing::ExitedWithCode(0),
              AllOf(HasSubstr("spruce: graph: staged, 3 equations\n"),
                    Not(HasSubstr("spruce: graph: fuse")), Not(HasSubstr("spruce: graph: tiny"))));
}

TEST_F(PassVariables, APassThatOthersNeedIsNotLeftOut) {
  EXPECT_EXIT(compile_with("-inline_calls", "compile"), testing::ExitedWithCode(0),
              AllOf(HasSubstr("SPRUCE_PASSES=-inline_calls is not known and is ignored"),
                    Not(HasSubstr("spruce: graph:"))));
}

}  // namespace variables_test
}  // namespace spruce
