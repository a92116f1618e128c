// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace {

TEST(Pipeline, ANameIsOneFunction) {
  std::map<std::string, Graph (*)(const Graph&)> functions;
  for (const passes::Pass& pass : passes::pipeline())
    EXPECT_EQ(functions.emplace(pass.name, pass.run).first->second, pass.run) << pass.name;
  EXPECT_FALSE(functions.empty());
}

TEST(Pipeline, KeepsInputsOutputsAndMeaning) {
  const auto f = [](const Array& x, const Array&) { return std::pair{sum(sin(x) * sin(x)), x}; };
  const Array x = array({1.0f, 2.0f, 3.0f});
  const Graph g = make_graph(f)(x, x);
  const Graph fast = passes::optimize(g);
  check(fast);
  ASSERT_EQ(fast.inputs.size(), 2u);
  const std::vector<Array> args = {x, x};
  const auto want = evaluate(g, args), got = evaluate(fast, args);
  ASSERT_EQ(got.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(got[i], want[i]));
  EXPECT_LT(fast.equations.size(), g.equations.size());
}

}  // namespace
}  // namespace spruce
