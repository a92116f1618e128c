// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace pipeline_test {

TEST(Pipeline, ANameIsOneFunction) {
  std::map<std::string, Graph (*)(Graph)> functions;
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

TEST(Pipeline, AStepOfAnLstmIsAProductAndOneLoop) {
  const auto f = [](const nn::LSTM& net, const Array& x) { return sum(net(x).output); };
  const Graph fast =
      passes::optimize(make_graph(grad(f))(nn::LSTM::init(Key(1), 3, 128), ones({4, 2, 3})));
  int scans = 0;
  for (const Equation& e : fast.equations) {
    if (e.primitive != &scan_p) continue;
    ++scans;
    const Graph& step = *e.params.get<ScanParams>().body;
    ASSERT_EQ(step.equations.size(), 2u) << fast;
    const std::set<std::string> names = {step.equations[0].primitive->name,
                                         step.equations[1].primitive->name};
    EXPECT_EQ(names, (std::set<std::string>{"dot_general", "fused"}));
  }
  EXPECT_EQ(scans, 2);  // forward and back
}

}  // namespace pipeline_test
}  // namespace spruce
