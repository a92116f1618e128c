// SPDX-License-Identifier: Apache-2.0
// A hundred thousand operations in a row: neither tracing nor transposing nor destruction may
// recurse.
#include <gtest/gtest.h>

#include "spruce/core/graph/graph.h"
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace deep_test {

constexpr int kOperations = 100000;

Array chain(const Array& x) {
  Array y = x;
  for (int i = 0; i < kOperations; ++i) y = y + x;
  return y;
}

TEST(Deep, Gradients) {
  const auto [value, slope] = value_and_grad(chain)(array(1.0, float64));
  EXPECT_EQ(value.item<double>(), kOperations + 1);
  EXPECT_EQ(slope.item<double>(), kOperations + 1);
  EXPECT_EQ(jvp(chain, std::tuple{array(1.0, float64)}, std::tuple{array(2.0, float64)})
                .second.item<double>(),
            2.0 * (kOperations + 1));
}

TEST(Deep, GradientOfGradient) {
  const auto square_of = [](const Array& x) {
    const Array y = chain(x);
    return y * y;
  };
  EXPECT_EQ(grad(grad(square_of))(array(1.0, float64)).item<double>(),
            2.0 * (kOperations + 1) * (kOperations + 1));
}

TEST(Deep, Graphs) {
  Graph g = make_graph(chain)(array(1.0, float64));
  ASSERT_EQ(g.equations.size(), static_cast<size_t>(kOperations));
  check(g);
  g = passes::dead_code(passes::common_subexpressions(passes::inline_calls(g)));
  EXPECT_EQ(evaluate(g, std::vector<Array>{array(1.0, float64)})[0].item<double>(),
            kOperations + 1);
  const std::string text = g.text(true);
  EXPECT_EQ(parse_graph(text).text(true), text);
}

TEST(Deep, Jit) {
  const auto f = jit(chain);
  EXPECT_EQ(f(array(1.0, float64)).item<double>(), kOperations + 1);
  EXPECT_EQ(grad(f)(array(1.0, float64)).item<double>(), kOperations + 1);
  EXPECT_EQ(jit(grad(chain))(array(1.0, float64)).item<double>(), kOperations + 1);
}

TEST(Deep, Maps) {
  const Array got = vmap(chain)(array({1.0, 2.0}, float64));
  EXPECT_TRUE(array_equal(got, (kOperations + 1.0) * array({1.0, 2.0}, float64)));
}

TEST(Deep, APullbackThatIsKept) {
  auto [value, pullback] = vjp(chain, array(1.0, float64));
  EXPECT_EQ(pullback(array(1.0, float64)).item<double>(), kOperations + 1);
}

}  // namespace deep_test
}  // namespace spruce
