// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace loop_invariants_test {

std::string scan(const std::string& counts, const std::string& inputs, const std::string& body) {
  return "scan[length=5 " + counts + " reverse=false unroll=1 checkpoint=false body=graph(" +
         inputs + ") {\n" + body + "\n}] ";
}

TEST(LoopInvariants, WorkOnConstantsMovesInFront) {
  expect_cases(
      passes::loop_invariants,
      {{"a: f32[3], b: f32[3]",
        "c: f32[3] = " +
            scan("consts=1 carry=1", "a: f32[3], b: f32[3]",
                 "c: f32[3] = tanh a\nd: f32[3] = mul b c\nreturn d") +
            "a b\nreturn c",
        "c: f32[3] = tanh a\nd: f32[3] = " +
            scan("consts=1 carry=1", "b: f32[3], a: f32[3]", "c: f32[3] = mul a b\nreturn c") +
            "c b\nreturn d"}});
}

const char* const kDot =
    "dot_general[lhs_contract=[1] rhs_contract=[1] lhs_batch=[] rhs_batch=[]] ";

TEST(LoopInvariants, ProductsOfFewRowsOfXsAreOne) {
  expect_cases(
      passes::loop_invariants,
      {{"a: f32[4,3], b: f32[2,4], c: f32[5,2,3]",
        "d: f32[2,4] = " +
            scan("consts=1 carry=1", "a: f32[4,3], b: f32[2,4], c: f32[2,3]",
                 std::string("d: f32[2,4] = ") + kDot + "c a\ne: f32[2,4] = mul b d\nreturn e") +
            "a b c\nreturn d",
        "d: f32[5,2,4] = dot_general[lhs_contract=[2] rhs_contract=[1] lhs_batch=[] "
        "rhs_batch=[]] c a\ne: f32[2,4] = " +
            scan("consts=0 carry=1", "a: f32[2,4], b: f32[2,4]",
                 "c: f32[2,4] = mul a b\nreturn c") +
            "b d\nreturn e"}});
}

TEST(LoopInvariants, SumsOfProductsAreOneProductBehind) {
  const Array x = reshape(arange(5.0f * 2 * 3), {5, 2, 3}) * 0.1f,
              w = reshape(arange(12.0f), {4, 3}) * 0.05f;
  const auto loss = [&](const Array& weights) {
    return sum(spruce::scan(
                   [&](const Array& h, const Array& one) {
                     const Array next = tanh(h + matmul(one, transpose(weights)));
                     return std::pair{next, next};
                   },
                   zeros({2, 4}), x)
                   .second);
  };
  const Graph g = make_graph(grad(loss))(w);
  const Graph fast = passes::optimize(g);
  // No step computes the derivative by the weights.
  int loops = 0;
  for (const Equation& e : fast.equations) {
    if (std::string(e.primitive->name) != "scan") continue;
    ++loops;
    for (const ValueId v : e.outputs)
      EXPECT_FALSE((fast.avals[static_cast<size_t>(v)].shape == Shape{4, 3}));
  }
  EXPECT_EQ(loops, 2);
  const std::vector<Array> args = {w};
  EXPECT_TRUE(allclose(evaluate(fast, args)[0], evaluate(g, args)[0]));
}

TEST(LoopInvariants, ConstantsAreTransposedForProductsOfManyRows) {
  const auto loop = [](int64_t rows, int64_t steps) {
    return make_graph([steps](const Array& h, const Array& w) {
      return fori_loop(
          0, steps, [&](const Array&, const Array& x) { return tanh(matmul(x, transpose(w))); }, h);
    })(ones({rows, 6}), ones({6, 6}));
  };
  const auto transposes = [](const Graph& g) {
    int n = 0;
    for (const Equation& e : passes::optimize(g).equations)
      n += std::string(e.primitive->name) == "transpose";
    return n;
  };
  EXPECT_EQ(transposes(loop(8, 20)), 1);
  EXPECT_EQ(transposes(loop(2, 20)), 0) << "few rows meet the columns as they are";
  EXPECT_EQ(transposes(loop(8, 3)), 0) << "too few steps to pay for it";
  const Graph g = loop(9, 20);
  const std::vector<Array> args = {arange(54.0f).reshape({9, 6}) * 0.01f,
                                   arange(36.0f).reshape({6, 6}) * 0.02f - 0.3f};
  EXPECT_TRUE(allclose(evaluate(passes::optimize(g), args)[0], evaluate(g, args)[0]));
}

TEST(LoopInvariants, ACarryThatIsReadStays) {
  const std::string body =
      "c: f32[3], d: f32[5,3] = " +
      scan("consts=0 carry=1", "a: f32[3], b: f32[2,3]",
           "c: f32[3] = reduce_sum[axes=[0]] b\nd: f32[3] = add a c\nreturn d a") +
      "a b\nreturn c d";
  EXPECT_EQ(after(passes::loop_invariants, "a: f32[3], b: f32[5,2,3]", body), body);
}

}  // namespace loop_invariants_test
}  // namespace spruce
