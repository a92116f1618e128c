// SPDX-License-Identifier: Apache-2.0
// What the pass `tiny` makes of small graphs.
#include "spruce/core/fusion/tiny.h"

#include <gtest/gtest.h>

#include <string>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/pipeline.h"

namespace spruce {
namespace tiny_test {

class Tiny : public ::testing::Test {
 protected:
  void SetUp() override {
    const Graph probe = parse_graph("graph(a: f32[2]) {\n  b: f32[2] = neg a\n  return b\n}");
    if (fusion::tiny_work(probe, probe.equations[0]) < 0)
      GTEST_SKIP() << "there is no code generator here";
  }

  static void expect_tiny(const std::string& from, const std::string& to) {
    const Graph graph = passes::tiny(parse_graph(from));
    check(graph);
    EXPECT_EQ(graph.text(), to);
  }
};

TEST_F(Tiny, EquationsThatFollowEachOtherAreOne) {
  expect_tiny(R"(graph(a: f32[3], b: f32[3]) {
  c: f32[3] = mul a b
  d: f32[3] = exp c
  return d
})",
              R"(graph(a: f32[3], b: f32[3]) {
  c: f32[3] = fused[unrolled=true body=graph(a: f32[3], b: f32[3]) {
    c: f32[3] = mul a b
    d: f32[3] = exp c
    return d
  }] a b
  return c
})");
}

TEST_F(Tiny, SoAreThoseBesideEachOther) {
  expect_tiny(R"(graph(a: f32[16], b: f32[9]) {
  l: f32[] = constant {1}
  c: f32[16] = add a l
  d: f32[9] = add b l
  return c d
})",
              R"(graph(a: f32[16], b: f32[9]) {
  c: f32[16], d: f32[9] = fused[unrolled=true body=graph(a: f32[16], d: f32[9]) {
    b: f32[] = constant {1}
    c: f32[16] = add a b
    e: f32[9] = add d b
    return c e
  }] a b
  return c d
})");
}

TEST_F(Tiny, APathThroughALargeArrayParts) {
  const std::string graph = R"(graph(a: f32[3], b: f32[900]) {
  c: f32[3] = neg a
  d: f32[] = reduce_sum[axes=[0]] c
  e: f32[900] = mul b d
  f: f32[] = reduce_sum[axes=[0]] e
  g: f32[3] = mul c f
  h: f32[3] = sub g a
  return h
})";
  const Graph made = passes::tiny(parse_graph(graph));
  check(made);
  ASSERT_EQ(made.equations.size(), 4u);
  EXPECT_STREQ(made.equations[0].primitive->name, "fused");
  EXPECT_STREQ(made.equations[1].primitive->name, "mul");
  EXPECT_STREQ(made.equations[2].primitive->name, "reduce_sum");
  EXPECT_STREQ(made.equations[3].primitive->name, "fused");
}

TEST_F(Tiny, OneAloneStaysAsItIs) {
  const std::string graph = R"(graph(a: f32[4]) {
  b: f32[4] = exp a
  c: f32[2,2] = reshape[shape=[2,2]] b
  return c
})";
  expect_tiny(graph, graph);
}

TEST_F(Tiny, WhatWasFusedIsTakenApart) {
  const Graph fused = passes::fuse(parse_graph(R"(graph(a: f32[3], b: f32[3,2], c: f32[2]) {
  d: f32[3] = mul a a
  e: f32[3] = exp d
  f: f32[2] = dot_general[lhs_contract=[0] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] e b
  g: f32[2] = add f c
  h: f32[2] = tanh g
  return h
})"));
  const Graph made = passes::tiny(fused);
  check(made);
  ASSERT_EQ(made.equations.size(), 1u);
  const std::vector<Array> in = {arange(3).astype(float32),
                                 reshape(arange(6), {3, 2}).astype(float32),
                                 arange(2).astype(float32)};
  const std::vector<Array> want = evaluate(fused, in), got = evaluate(made, in);
  EXPECT_TRUE(allclose(got[0], want[0]));
}

TEST_F(Tiny, CompiledTwiceIsCompiledOnce) {
  const Graph graph = parse_graph(R"(graph(a: f32[3], b: f32[3]) {
  c: f32[3] = mul a b
  d: f32[3] = exp c
  e: f32[3] = rev[axes=[0]] d
  return e
})");
  const Graph once = passes::optimize(graph), twice = passes::optimize(once);
  check(twice);
  EXPECT_EQ(twice.text(), once.text());
}

}  // namespace tiny_test
}  // namespace spruce
