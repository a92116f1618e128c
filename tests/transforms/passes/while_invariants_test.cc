// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace while_invariants_test {

std::string graph(const std::string& inputs, const std::string& body) {
  return "graph(" + inputs + ") {\n" + body + "\n}";
}

std::string loop(const std::string& counts, const std::string& condition, const std::string& body) {
  return "while_loop[" + counts + " max_steps=-1 checkpoint=false condition=" + condition +
         " body=" + body + "] ";
}

TEST(WhileInvariants, WorkOnConstantsMovesInFront) {
  expect_cases(
      passes::while_invariants,
      {{"a: f32[], b: f32[]",
        "c: f32[] = " +
            loop("condition_consts=1 body_consts=1",
                 graph("a: f32[], b: f32[]", "c: f32[] = exp a\nd: bool[] = lt b c\nreturn d"),
                 graph("a: f32[], b: f32[]", "c: f32[] = tanh a\nd: f32[] = add b c\nreturn d")) +
            "a a b\nreturn c",
        "c: f32[] = exp a\nd: f32[] = tanh a\ne: f32[] = " +
            loop("condition_consts=1 body_consts=1",
                 graph("b: f32[], a: f32[]", "c: bool[] = lt a b\nreturn c"),
                 graph("b: f32[], a: f32[]", "c: f32[] = add a b\nreturn c")) +
            "c d b\nreturn e"}});
}

TEST(WhileInvariants, CarriesThatNoStepChangesAreConstants) {
  expect_cases(
      passes::while_invariants,
      {{"a: f32[], b: f32[]",
        "c: f32[], d: f32[] = " +
            loop("condition_consts=0 body_consts=0",
                 graph("a: f32[], b: f32[]", "c: bool[] = lt b a\nreturn c"),
                 graph("a: f32[], b: f32[]", "c: f32[] = tanh a\nd: f32[] = add b c\nreturn a d")) +
            "a b\nreturn c d",
        "c: f32[] = tanh a\nd: f32[] = " +
            loop("condition_consts=1 body_consts=1",
                 graph("a: f32[], b: f32[]", "c: bool[] = lt b a\nreturn c"),
                 graph("b: f32[], a: f32[]", "c: f32[] = add a b\nreturn c")) +
            "a c b\nreturn a d"}});
}

TEST(WhileInvariants, LoopsWithinStayWhereTheyAre) {
  const std::string body =
      "c: f32[] = " +
      loop("condition_consts=1 body_consts=1",
           graph("a: f32[], b: f32[]", "c: bool[] = lt b a\nreturn c"),
           graph("a: f32[], b: f32[]",
                 "c: f32[] = " +
                     loop("condition_consts=0 body_consts=0",
                          graph("a: f32[]", "b: bool[] = is_finite a\nreturn b"),
                          graph("a: f32[]", "b: f32[] = exp a\nreturn b")) +
                     "a\nd: f32[] = add b c\nreturn d")) +
      "a a b\nreturn c";
  EXPECT_EQ(after(passes::while_invariants, "a: f32[], b: f32[]", body), body);
}

TEST(WhileInvariants, CompiledLoopsGiveWhatEagerOnesGive) {
  const auto f = [](const Array& w, const Array& x) {
    return while_loop(
        [&](const std::tuple<Array, Array, Array>& s) { return std::get<0>(s) < sum(w * w); },
        [&](const std::tuple<Array, Array, Array>& s) {
          const auto& [n, scale, y] = s;
          return std::tuple(n + 1, scale, tanh(matmul(sin(w), y)) * exp(scale));
        },
        std::tuple(Array(0.0f), Array(0.5f), x));
  };
  const Array w = reshape(arange(9.0f), {3, 3}) * 0.1f, x = ones({3});
  const auto eager = f(w, x), compiled = jit(f)(w, x);
  EXPECT_EQ(std::get<0>(compiled).item<float>(), 3);
  EXPECT_TRUE(array_equal(std::get<0>(compiled), std::get<0>(eager)));
  EXPECT_TRUE(array_equal(std::get<1>(compiled), std::get<1>(eager)));
  EXPECT_TRUE(allclose(std::get<2>(compiled), std::get<2>(eager)));
}

}  // namespace while_invariants_test
}  // namespace spruce
