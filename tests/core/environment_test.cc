// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "spruce/core/ops/create.h"
#include "spruce/core/ops/math.h"

namespace spruce::internal {
namespace environment_test {

struct Read {
  std::string value, said;
};

Read read(const char* value) {
  if (value == nullptr)
    unsetenv("SPRUCE_COLOR");
  else
    setenv("SPRUCE_COLOR", value, 1);
  testing::internal::CaptureStderr();
  const std::string got(environment("SPRUCE_COLOR", {"red", "green"}));
  unsetenv("SPRUCE_COLOR");
  return {got, testing::internal::GetCapturedStderr()};
}

TEST(Environment, KnownValuesAreTakenInSilence) {
  EXPECT_EQ(read("green").value, "green");
  EXPECT_EQ(read("green").said, "");
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    EXPECT_EQ(read(value).value, "");
    EXPECT_EQ(read(value).said, "");
  }
}

TEST(Environment, AnUnknownValueIsNamedWithThoseThatAreKnown) {
  for (const char* value : {"blue", "Green", "red,green", "1"}) {
    const Read r = read(value);
    EXPECT_EQ(r.value, "");
    EXPECT_EQ(r.said, "spruce: warning: SPRUCE_COLOR=" + std::string(value) +
                          " is not known and is ignored; known values: red, green\n");
  }
}

TEST(Environment, OfAListEachUnknownValueIsNamed) {
  setenv("SPRUCE_COLORS", "red,blue,,green,", 1);
  testing::internal::CaptureStderr();
  const std::vector<std::string> got = environment_list("SPRUCE_COLORS", {"red", "green"});
  unsetenv("SPRUCE_COLORS");
  EXPECT_EQ(got, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "spruce: warning: SPRUCE_COLORS=blue is not known and is ignored; known values: red, "
            "green\n");
  EXPECT_TRUE(environment_list("SPRUCE_COLORS", {"red", "green"}).empty());
}

// Run by the test below, in a process of its own: reads the variables of the core.
TEST(Environment, DISABLED_IsReadByWork) { EXPECT_EQ(exp(array(0.0f)).item<float>(), 1.0f); }

TEST(Environment, VariablesOfTheLibraryAreChecked) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  struct Variable {
    const char *name, *known;
  };
  for (const Variable v :
       {Variable{"SPRUCE_ISA", "base, v3, v4"}, Variable{"SPRUCE_DEBUG_NANS", "0, 1"}}) {
    const std::string command =
        std::string(v.name) + "=perhaps '" + program +
        "' --gtest_also_run_disabled_tests --gtest_filter=Environment.DISABLED_IsReadByWork 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string said;
    for (char line[512]; std::fgets(line, sizeof line, pipe) != nullptr;) said += line;
    EXPECT_EQ(pclose(pipe), 0);
    const std::string expected = "spruce: warning: " + std::string(v.name) +
                                 "=perhaps is not known and is ignored; known values: " + v.known;
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  }
}

}  // namespace environment_test
}  // namespace spruce::internal
