// SPDX-License-Identifier: Apache-2.0
// The text of a graph is the graph, for every primitive with its parameters.
#include "spruce/transforms/compile/jit.h"
#include "tests/transforms/properties.h"

namespace spruce::properties {
namespace properties_graph_test {

using Text = PerPrimitive;

TEST_P(Text, ReadsBackAsItWasWritten) {
  std::vector<Case> cases = all_cases(p(), float32);
  for (Case& c : integer_cases(p())) cases.push_back(std::move(c));
  for (const Case& c : cases) {
    run_case(c, [&] {
      const Arrays in = inputs(c);
      // Once with the inputs as inputs, once as constants.
      const Graph g = make_graph([&](const Arrays& x) {
        return std::pair{outputs(c, x), outputs(c, in)};
      })(in);
      const Graph read = parse_graph(g.text(true));
      EXPECT_EQ(read.text(true), g.text(true));
      expect_same(evaluate(read, in), evaluate(g, in), "the graph that was read");
      ASSERT_EQ(read.equations.size(), g.equations.size());
      for (size_t n = 0; n < g.equations.size(); ++n)
        EXPECT_TRUE(read.equations[n].params == g.equations[n].params);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Properties, Text, testing::ValuesIn(primitives_with_samples()), name_of);

}  // namespace properties_graph_test
}  // namespace spruce::properties
