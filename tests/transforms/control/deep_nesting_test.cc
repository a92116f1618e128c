// SPDX-License-Identifier: Apache-2.0
// Loops and branches within each other, fifty deep: what is done twice at each level would never
// end.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/control/body/body_rules.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"

namespace spruce::control {
namespace deep_nesting_test {

constexpr int kDepth = 50;

// x / 2 after all of them, where x > 0.
Array conds(int depth, const Array& x) {
  if (depth == 0) return 0.5f * x;
  return cond(
      x > 0.0f, [=](const Array& y) { return conds(depth - 1, y); },
      [](const Array& y) { return -y; }, x);
}

// Each level goes twice through the next one and halves what comes out: x in all.
Array scans(int depth, const Array& x) {
  if (depth == 0) return x;
  const auto step = [=](const Array& c, const Array& half) {
    return std::pair{half * scans(depth - 1, c) + half * x, none};
  };
  return scan(step, x, array({0.5f})).first;
}

Array whiles(int depth, const Array& x) {
  if (depth == 0) return x;
  const auto more = [](const std::pair<Array, Array>& s) { return s.first < 1; };
  const auto next = [=](const std::pair<Array, Array>& s) {
    return std::pair{s.first + 1, 0.5f * whiles(depth - 1, s.second) + 0.5f * x};
  };
  return while_loop(more, next, std::pair{array(0), x}, {.max_steps = 1}).second;
}

using Nested = Array (*)(int depth, const Array& x);

// Values and slopes under jvp, vmap, jit and, down to another depth, grad.
void expect_line(Nested f, float slope, int grad_depth = kDepth) {
  const int depth = kDepth;
  const auto one = [=](const Array& x) { return f(depth, x); };
  const Array x = array(2.0f), xs = array({1.0f, 2.0f, 3.0f}), slopes = full({3}, slope);
  EXPECT_TRUE(allclose(one(x), slope * x));
  EXPECT_TRUE(allclose(jit(one)(x), slope * x));
  EXPECT_TRUE(allclose(jvp(one, std::tuple{x}, std::tuple{x}).second, slope * x));
  EXPECT_TRUE(allclose(vmap(one)(xs), slope * xs));
  EXPECT_TRUE(allclose(jit(vmap(one))(xs), slope * xs));
  const auto some = [=](const Array& v) { return f(grad_depth, v); };
  EXPECT_TRUE(allclose(grad(some)(x), array(slope)));
  EXPECT_TRUE(allclose(jit(grad(some))(x), array(slope)));
  EXPECT_TRUE(allclose(vmap(grad(some))(xs), slopes));
  EXPECT_TRUE(allclose(grad([&](const Array& v) { return sum(vmap(some)(v)); })(xs), slopes));
}

TEST(DeepNesting, Branches) { expect_line(conds, 0.5f); }
TEST(DeepNesting, Scans) { expect_line(scans, 1.0f); }
// What reverse mode keeps of each step has an axis for each loop around it, and arrays have at most
// sixteen.
TEST(DeepNesting, WhileLoops) { expect_line(whiles, 1.0f, 14); }

// As many graphs more for each further level.
TEST(DeepNesting, EachLevelMakesAsManyBodies) {
  for (const Nested f : {conds, scans, whiles}) {
    std::vector<int64_t> made;
    for (const int depth : {4, 8, 12, 16}) {
      const int64_t before = internal::bodies_made();
      (void)make_graph(grad([=](const Array& x) { return f(depth, x); }))(array(2.0f));
      (void)make_graph(vmap([=](const Array& x) { return f(depth, x); }))(array({2.0f}));
      made.push_back(internal::bodies_made() - before);
    }
    EXPECT_EQ(made[3] - made[2], made[2] - made[1]);
    EXPECT_EQ(made[2] - made[1], made[1] - made[0]);
  }
}

// Equations, what they take and give, values and constants of a graph and of those within it.
int64_t size_of(const Graph& graph) {
  int64_t size = 0;
  std::vector<const Graph*> todo{&graph};
  std::set<const Graph*> seen;
  while (!todo.empty()) {
    const Graph& g = *todo.back();
    todo.pop_back();
    size += std::ssize(g.equations) + std::ssize(g.avals) + std::ssize(g.constants);
    for (const Equation& e : g.equations) {
      size += std::ssize(e.inputs) + std::ssize(e.outputs);
      if (e.params.empty()) continue;
      e.params.base()->visit_graphs([&](const GraphPtr& b) {
        if (b != nullptr && seen.insert(b.get()).second) todo.push_back(b.get());
      });
    }
  }
  return size;
}

// Each level keeps a number for the way back: twice the levels are twice the graph, although every
// branch hands on what those within it keep.
TEST(DeepNesting, WhatIsDifferentiatedGrowsAsTheDepth) {
  const auto waves = [](const auto& self, int depth, const Array& x) -> Array {
    if (depth == 0) return x;
    const auto other = [](const Array& y) { return y * array({1.0f, 2.0f}); };
    return cond(
        sum(x) > 0.0f, [&](const Array& y) { return sin(self(self, depth - 1, y)); }, other, x);
  };
  const auto one = [&](int depth) {
    return [=](const Array& x) { return sum(waves(waves, depth, x)); };
  };
  const Array x = array({0.3f, 0.4f});
  const auto expect_linear = [](const char* what, const auto& graph_at) {
    std::vector<int64_t> sizes;
    for (const int depth : {16, 32, 64}) sizes.push_back(size_of(graph_at(depth)));
    EXPECT_LT(static_cast<double>(sizes[2] - sizes[1]),
              2.2 * static_cast<double>(sizes[1] - sizes[0]))
        << what << " " << sizes[0] << " " << sizes[1] << " " << sizes[2];
  };
  expect_linear("grad", [&](int n) { return make_graph(grad(one(n)))(x); });
  expect_linear("vmap of grad", [&](int n) {
    return make_graph(vmap(grad(one(n))))(ones({3, 2}));
  });
  expect_linear("grad of grad", [&](int n) {
    const auto f = one(n);
    return make_graph(grad([=](const Array& v) { return sum(grad(f)(v)); }))(x);
  });
  expect_linear("grad of scans", [&](int n) {
    return make_graph(grad([=](const Array& v) { return scans(n, v); }))(array(2.0f));
  });
  const auto again = [](const auto& self, int depth, const Array& v) -> Array {
    if (depth == 0) return v;
    return checkpoint([&](const Array& y) { return sin(self(self, depth - 1, y)); })(v);
  };
  expect_linear("grad of checkpoints", [&](int n) {
    return make_graph(grad([=](const Array& v) { return sum(again(again, n, v)); }))(x);
  });
  // The numbers are those of the same without branches.
  const auto plain = [](const Array& v) {
    Array y = v;
    for (int k = 0; k < 20; ++k) y = sin(y);
    return sum(y);
  };
  EXPECT_TRUE(allclose(grad(one(20))(x), grad(plain)(x)));
  const auto remade = [&](const Array& v) { return sum(again(again, 20, v)); };
  EXPECT_TRUE(allclose(grad(remade)(x), grad(plain)(x)));
  EXPECT_TRUE(allclose(jit(grad(remade))(x), grad(plain)(x)));
  EXPECT_TRUE(allclose(jit(grad(one(20)))(x), grad(plain)(x)));
  const auto second = [](const auto& f) {
    return grad([=](const Array& v) { return sum(grad(f)(v)); });
  };
  EXPECT_TRUE(allclose(second(one(20))(x), second(plain)(x)));
  const Array xs = array({{0.3f, 0.4f}, {-0.3f, -0.4f}, {0.9f, -0.1f}});
  const Array of_other = array({1.0f, 2.0f});
  EXPECT_TRUE(
      allclose(vmap(grad(one(20)))(xs), stack({grad(plain)(xs[0]), of_other, grad(plain)(xs[2])})));
}

// A body that stands in a graph is not made anew when the graph around it is tidied.
TEST(DeepNesting, BodiesWithinAreTidiedOnce) {
  const Graph g = make_graph([](const Array& x) { return conds(3, x); })(array(2.0f));
  const auto bodies = [](const Graph& g) {
    std::vector<GraphPtr> found;
    for (const Equation& e : g.equations) {
      if (!e.params.empty())
        e.params.base()->visit_graphs([&](const GraphPtr& b) { found.push_back(b); });
    }
    return found;
  };
  ASSERT_EQ(bodies(g).size(), 2u);
  EXPECT_EQ(bodies(passes::outermost_dead_code(g)), bodies(g));
  EXPECT_EQ(bodies(passes::outermost_common_subexpressions(g)), bodies(g));
}

TEST(DeepNesting, AFunctionFile) {
  const std::string path = std::filesystem::temp_directory_path() / "spruce_deep_nesting.fn";
  const auto f = [](const Array& x) { return conds(kDepth, x); };
  save_function(path, f, array(2.0f));
  const auto loaded = load_function<Array(Array)>(path);
  EXPECT_EQ(loaded(array(2.0f)).item<float>(), 1.0f);
  EXPECT_EQ(grad(loaded)(array(2.0f)).item<float>(), 0.5f);
  std::filesystem::remove(path);
}

}  // namespace deep_nesting_test
}  // namespace spruce::control
