// SPDX-License-Identifier: Apache-2.0
// Effects in passes: what has none is as it was, what has some keeps them.
#include "spruce/transforms/passes/effects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/effects/debugging.h"
#include "spruce/transforms/effects/host_call.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace effects_test {

// A step with a loop, a branch and a checkpoint in it; with effects in all of them or none.
Array step(const Array& w, const Array& x, bool effects) {
  const auto show = [&](const Array& a) {
    if (!effects) return;
    debug::print("{}", sum(a));
    check(sum(a) < 1e9f, "{} is too large", sum(a));
    (void)host_call([](const Array& b) { return b; }, a.shape(), {.effects = true},
                    stop_gradient(a));
  };
  const auto layer = checkpoint([&](const Array& v, const Array& h) {
    show(h);
    return tanh(matmul(h, v));
  });
  const Array h = scan(
                      [&](const Array& c, const Array& row) {
                        show(row);
                        return std::pair{layer(w, c) + row, none};
                      },
                      x[0], x)
                      .first;
  return cond(
      sum(h) > 0.0f,
      [&](const Array& a) {
        show(a);
        return sum(a * a);
      },
      [](const Array& a) { return sum(a); }, h);
}

const Array kW = eye(3), kX = arange(12.0f).reshape({4, 3});

auto of_step(bool effects) {
  return [=](const Array& w, const Array& x) { return step(w, x, effects); };
}

int64_t count_of(const Graph& g, const char* name) {
  int64_t n = 0;
  for (const Equation& e : g.equations) {
    n += std::string_view(e.primitive->name) == name ? 1 : 0;
    if (e.params.empty()) continue;
    e.params.base()->visit_graphs([&](const GraphPtr& body) {
      if (body != nullptr) n += count_of(*body, name);
    });
  }
  return n;
}

TEST(Effects, AStepWithoutThemIsAsItWas) {
  for (const Graph& g :
       {make_graph(of_step(false))(kW, kX), make_graph(grad(of_step(false)))(kW, kX)}) {
    EXPECT_FALSE(passes::has_effects(g));
    EXPECT_EQ(passes::find_host_work(g), nullptr);
    EXPECT_EQ(passes::order_effects(g).text(true), g.text(true));
    EXPECT_EQ(passes::without_effects(g).text(true), g.text(true));
  }
}

TEST(Effects, WithoutThemAStepIsTheOneThatHasNone) {
  const auto same = [](const Graph& with, const Graph& plain) {
    EXPECT_TRUE(passes::has_effects(with));
    const Graph left = passes::without_effects(with);
    EXPECT_FALSE(passes::has_effects(left));
    EXPECT_EQ(left.text(true), passes::dead_code(plain).text(true));
    EXPECT_EQ(passes::optimize(left).text(true), passes::optimize(plain).text(true));
  };
  same(make_graph(of_step(true))(kW, kX), make_graph(of_step(false))(kW, kX));
  const auto f = [](bool effects) {
    return [=](const Array& x) {
      const Array y = exp(x);
      if (effects) debug::print("{}", y);
      return sum(y * y);
    };
  };
  same(make_graph(grad(f(true)))(kX), make_graph(grad(f(false)))(kX));
}

TEST(Effects, StayAsManyAsTheyAre) {
  const Graph staged = make_graph(of_step(true))(kW, kX);
  const Graph back = make_graph(grad(of_step(true)))(kW, kX);
  for (const char* name : {"debug_print", "check", "host_call"}) {
    EXPECT_EQ(count_of(staged, name), 3) << name;
    EXPECT_EQ(count_of(back, name), 3) << "the backward pass has none: " << name;
    EXPECT_EQ(count_of(passes::optimize(staged), name), 3) << name;
    EXPECT_EQ(count_of(passes::optimize(back), name), 3) << name;
  }
  for (Graph g : {staged, back}) {
    for (const passes::Pass& pass : passes::pipeline()) {
      g = pass.run(std::move(g));
      EXPECT_NO_THROW(check(g)) << pass.name;
    }
  }
}

// Each waits for what comes before it.
TEST(Effects, AreMadeADependence) {
  const Graph g = make_graph([](const Array& x) {
    debug::print("1 {}", x);
    debug::print("2");
    check(x > 0.0f, "3");
    return x;
  })(ones({3}));
  const Graph ordered = passes::order_effects(g);
  check(ordered);
  ValueId before = -1;
  for (const Equation& e : ordered.equations) {
    if (!passes::has_effect(e)) continue;
    if (before >= 0) {
      const bool direct = std::find(e.inputs.begin(), e.inputs.end(), before) != e.inputs.end();
      const bool held =
          std::any_of(ordered.equations.begin(), ordered.equations.end(), [&](const Equation& b) {
            return std::string_view(b.primitive->name) == "barrier" && b.inputs[1] == before &&
                   b.outputs[0] == e.inputs[0];
          });
      EXPECT_TRUE(direct || held) << ordered;
    }
    before = e.outputs[0];
  }
}

}  // namespace effects_test
}  // namespace spruce
