// SPDX-License-Identifier: Apache-2.0
// Long programs: nothing recurses over their equations or looks at all of them for each of them.
// benchmarks/micro/compile_time.cc measures how the time to compile them grows.
#include <gtest/gtest.h>

#include "benchmarks/long_programs.h"
#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/passes/pipeline.h"

namespace spruce {
namespace compile_time_test {

#ifdef __SANITIZE_ADDRESS__
constexpr int kLong = 2000;  // everything is slower
#else
constexpr int kLong = 20000;
#endif

TEST(LongPrograms, Compile) {
  for (const bench::LongProgram& p : bench::kLongPrograms) {
    const Graph graph = p.make(kLong);
    EXPECT_GT(graph.equations.size(), kLong * 9u / 10) << p.name;
    const internal::Plan plan(passes::optimize(graph));
    EXPECT_FALSE(plan.graph().equations.empty()) << p.name;
  }
}

}  // namespace compile_time_test
}  // namespace spruce
