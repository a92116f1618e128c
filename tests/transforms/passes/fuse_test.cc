// SPDX-License-Identifier: Apache-2.0
// What the pass `fuse` makes of small graphs.
#include <gtest/gtest.h>

#include <string>

#include "spruce/core/rules/group.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce {
namespace fuse_test {

void expect_fused(const std::string& from, const std::string& to) {
  const Graph fused = passes::fuse(parse_graph(from));
  check(fused);
  EXPECT_EQ(fused.text(), to);
}

void expect_unchanged(const std::string& graph) { expect_fused(graph, graph); }

TEST(Fuse, AChainOfOperationsIsOne) {
  expect_fused(R"(graph(a: f32[3], b: f32[3]) {
  c: f32[3] = mul a b
  d: f32[3] = exp c
  return d
})",
               R"(graph(a: f32[3], b: f32[3]) {
  c: f32[3] = fused[unrolled=false body=graph(a: f32[3], b: f32[3]) {
    c: f32[3] = mul a b
    d: f32[3] = exp c
    return d
  }] a b
  return c
})");
}

TEST(Fuse, ALoneOperationStaysAsItIs) {
  expect_unchanged(R"(graph(a: f32[3]) {
  b: f32[3] = exp a
  return b
})");
}

// The slices of an array are read where they stand; short ones are copied first.
TEST(Fuse, TakesLongSlicesIn) {
  expect_fused(R"(graph(a: f32[4,256]) {
  b: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] a
  c: f32[4,128] = slice[start=[0,128] limit=[4,256] stride=[1,1]] a
  d: f32[4,128] = mul b c
  return d
})",
               R"(graph(a: f32[4,256]) {
  b: f32[4,128] = fused[unrolled=false body=graph(a: f32[4,256]) {
    b: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] a
    c: f32[4,128] = slice[start=[0,128] limit=[4,256] stride=[1,1]] a
    d: f32[4,128] = mul b c
    return d
  }] a
  return b
})");
  expect_unchanged(R"(graph(a: f32[4,16]) {
  b: f32[4,8] = slice[start=[0,0] limit=[4,8] stride=[1,1]] a
  c: f32[4,8] = slice[start=[0,8] limit=[4,16] stride=[1,1]] a
  d: f32[4,8] = mul b c
  return d
})");
}

TEST(Fuse, ASliceThatIsReadTwiceIsLoadedOnce) {
  const Graph fused = passes::fuse(parse_graph(R"(graph(a: f32[256]) {
  b: f32[128] = slice[start=[0] limit=[128] stride=[1]] a
  c: f32[128] = exp b
  d: f32[128] = mul c b
  return d
})"));
  ASSERT_EQ(fused.equations.size(), 1u) << fused;
  EXPECT_EQ(fused.equations[0].params.get<GroupParams>().body->equations.size(), 3u) << fused;
}

// What is computed for it is written where it stands in it.
TEST(Fuse, TakesALongConcatenationIn) {
  expect_fused(R"(graph(a: f32[4,128], b: f32[4,128]) {
  c: f32[4,128] = mul a b
  d: f32[4,128] = exp c
  e: f32[4,256] = concatenate[axis=1] d c
  return e
})",
               R"(graph(a: f32[4,128], b: f32[4,128]) {
  c: f32[4,256] = fused[unrolled=false body=graph(a: f32[4,128], b: f32[4,128]) {
    c: f32[4,128] = mul a b
    d: f32[4,128] = exp c
    e: f32[4,256] = concatenate[axis=1] d c
    return e
  }] a b
  return c
})");
}

TEST(Fuse, OtherConcatenationsStay) {
  expect_unchanged(R"(graph(a: f32[4,8]) {
  b: f32[4,8] = exp a
  c: f32[4,16] = concatenate[axis=1] b b
  return c
})");
  expect_unchanged(R"(graph(a: f32[4,128]) {
  b: f32[4,128] = exp a
  c: f32[4,256] = concatenate[axis=1] b a
  return c
})");
  expect_unchanged(R"(graph(a: f32[4,128]) {
  b: f32[4,128] = exp a
  c: f32[4,256] = concatenate[axis=1] b b
  return c
})");
}

// What a group computes itself stands nowhere as a whole until it has ended.
TEST(Fuse, ASliceOfWhatIsComputedBeginsAnotherGroup) {
  expect_fused(R"(graph(a: f32[512]) {
  b: f32[512] = exp a
  c: f32[256] = slice[start=[0] limit=[256] stride=[1]] b
  d: f32[256] = sqrt c
  return d b
})",
               R"(graph(a: f32[512]) {
  b: f32[512] = exp a
  c: f32[256] = fused[unrolled=false body=graph(a: f32[512]) {
    b: f32[256] = slice[start=[0] limit=[256] stride=[1]] a
    c: f32[256] = sqrt b
    return c
  }] b
  return c b
})");
}

// The two parts of a roll, a border and a reversal are read where they stand, each consumer by
// itself.
TEST(Fuse, TakesInWhatOnlyMoves) {
  const auto only_fused = [](const std::string& text) {
    const Graph fused = passes::fuse(parse_graph(text));
    check(fused);
    ASSERT_EQ(fused.equations.size(), 1u) << fused;
    EXPECT_EQ(fused.equations[0].primitive, &fused_p) << fused;
  };
  only_fused(R"(graph(a: f32[8,16]) {
  b: f32[1,16] = slice[start=[7,0] limit=[8,16] stride=[1,1]] a
  c: f32[7,16] = slice[start=[0,0] limit=[7,16] stride=[1,1]] a
  d: f32[8,16] = concatenate[axis=0] b c
  e: f32[8,1] = slice[start=[0,0] limit=[8,1] stride=[1,1]] d
  f: f32[8,15] = slice[start=[0,1] limit=[8,16] stride=[1,1]] d
  g: f32[8,16] = concatenate[axis=1] f e
  h: f32[8,16] = mul d g
  i: f32[8,16] = sub h a
  return i
})");
  only_fused(R"(graph(a: f32[8,16], b: f32[]) {
  c: f32[9,16] = pad[low=[1,0] high=[0,0] interior=[0,0]] a b
  d: f32[9,16] = rev[axes=[1]] c
  e: f32[9,16] = mul c d
  return e
})");
}

TEST(Fuse, WhatOnlyMovesStaysWhereNothingIsComputed) {
  expect_unchanged(R"(graph(a: f32[8,16]) {
  b: f32[1,16] = slice[start=[7,0] limit=[8,16] stride=[1,1]] a
  c: f32[7,16] = slice[start=[0,0] limit=[7,16] stride=[1,1]] a
  d: f32[8,16] = concatenate[axis=0] b c
  return d
})");
}

TEST(Fuse, ARollOfWhatIsComputedBeginsAnotherGroup) {
  const Graph fused = passes::fuse(parse_graph(R"(graph(a: f32[256]) {
  b: f32[256] = exp a
  c: f32[256] = mul b a
  d: f32[1] = slice[start=[255] limit=[256] stride=[1]] c
  e: f32[255] = slice[start=[0] limit=[255] stride=[1]] c
  f: f32[256] = concatenate[axis=0] d e
  g: f32[256] = sub f c
  h: f32[256] = exp g
  return h
})"));
  ASSERT_EQ(fused.equations.size(), 2u) << fused;
  for (const Equation& e : fused.equations) EXPECT_EQ(e.primitive, &fused_p) << fused;
}

TEST(Fuse, BodiesOfLoopsFuseToo) {
  const std::string scan =
      "scan[length=4 consts=0 carry=1 reverse=false unroll=1 checkpoint=false ";
  expect_fused("graph(a: f32[3], b: f32[4,3]) {\n  c: f32[3] = " + scan +
                   R"(body=graph(a: f32[3], b: f32[3]) {
    c: f32[3] = mul a b
    d: f32[3] = exp c
    return d
  }] a b
  return c
})",
               "graph(a: f32[3], b: f32[4,3]) {\n  c: f32[3] = " + scan +
                   R"(body=graph(a: f32[3], b: f32[3]) {
    c: f32[3] = fused[unrolled=false body=graph(a: f32[3], b: f32[3]) {
      c: f32[3] = mul a b
      d: f32[3] = exp c
      return d
    }] a b
    return c
  }] a b
  return c
})");
}

TEST(Fuse, OneGroupEachSideOfAProductAndConstantsWithin) {
  expect_fused(R"(graph(a: f32[9,4], b: f32[4], c: f32[4,2], d: f32[9,2]) {
  l: f32[] = constant {0.5}
  e: f32[9,4] = broadcast_in_dim[shape=[9,4] broadcast_dimensions=[1]] b
  f: f32[9,4] = add a e
  g: f32[9,4] = tanh f
  h: f32[9,2] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] g c
  i: f32[9,2] = sub h d
  j: f32[9,2] = mul i i
  k: f32[] = reduce_sum[axes=[0,1]] j
  m: f32[] = mul k l
  n: f32[9,4] = mul g g
  o: f32[4] = reduce_sum[axes=[0]] n
  return m o
})",
               R"(graph(a: f32[9,4], b: f32[4], c: f32[4,2], d: f32[9,2]) {
  e: f32[9,4], h: f32[4] = fused[unrolled=false body=graph(a: f32[4], c: f32[9,4]) {
    b: f32[9,4] = broadcast_in_dim[shape=[9,4] broadcast_dimensions=[1]] a
    d: f32[9,4] = add c b
    e: f32[9,4] = tanh d
    f: f32[9,4] = mul e e
    g: f32[4] = reduce_sum[axes=[0]] f
    return e g
  }] b a
  f: f32[9,2] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] e c
  g: f32[] = fused[unrolled=false body=graph(a: f32[9,2], b: f32[9,2]) {
    f: f32[] = constant {0.5}
    c: f32[9,2] = sub a b
    d: f32[9,2] = mul c c
    e: f32[] = reduce_sum[axes=[0,1]] d
    g: f32[] = mul e f
    return g
  }] f d
  return g h
})");
}

// What comes before a product and after it is not one group: the product would have to run within.
// What is computed with the same number is not one group for that: its operands would all have to
// be in memory at once.
TEST(Fuse, ASharedNumberIsNoReasonToBeOne) {
  const Graph fused = passes::fuse(parse_graph(R"(graph(a: f32[], b: f32[5000], c: f32[6000]) {
  d: f32[] = sqrt a
  e: f32[] = neg d
  f: f32[5000] = mul b e
  g: f32[5000] = exp f
  h: f32[6000] = mul c e
  i: f32[6000] = exp h
  return g i
})"));
  check(fused);
  ASSERT_EQ(fused.equations.size(), 3u) << fused;
  for (const Equation& e : fused.equations) EXPECT_EQ(e.outputs.size(), 1u);
}

TEST(Fuse, MakesNoCycles) {
  expect_unchanged(R"(graph(a: f32[4,4]) {
  b: f32[4,4] = tanh a
  c: f32[4,4] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] b b
  d: f32[4,4] = mul c b
  return d
})");
}

// The mean of a large array is known only when all of it has been read.
TEST(Fuse, ALargeArrayIsNotReadTwiceWithinAGroup) {
  expect_fused(R"(graph(a: f32[4096,64], b: f32[]) {
  c: f32[4096,64] = mul a a
  d: f32[] = reduce_sum[axes=[0,1]] c
  e: f32[] = mul d b
  f: f32[4096,64] = mul a e
  return f
})",
               R"(graph(a: f32[4096,64], b: f32[]) {
  c: f32[] = fused[unrolled=false body=graph(a: f32[4096,64]) {
    b: f32[4096,64] = mul a a
    c: f32[] = reduce_sum[axes=[0,1]] b
    return c
  }] a
  d: f32[4096,64] = fused[unrolled=false body=graph(a: f32[], b: f32[], d: f32[4096,64]) {
    c: f32[] = mul a b
    e: f32[4096,64] = mul d c
    return e
  }] c b a
  return d
})");
}

// Its rows go on with their own sums.
TEST(Fuse, RowsAreNormalisedInOneGroup) {
  expect_fused(R"(graph(a: f32[4096,64]) {
  b: f32[4096] = reduce_max[axes=[1]] a
  c: f32[4096,1] = reshape[shape=[4096,1]] b
  d: f32[4096,64] = sub a c
  return d
})",
               R"(graph(a: f32[4096,64]) {
  b: f32[4096,64] = fused[unrolled=false body=graph(a: f32[4096,64]) {
    b: f32[4096] = reduce_max[axes=[1]] a
    c: f32[4096,1] = reshape[shape=[4096,1]] b
    d: f32[4096,64] = sub a c
    return d
  }] a
  return b
})");
}

}  // namespace fuse_test
}  // namespace spruce
