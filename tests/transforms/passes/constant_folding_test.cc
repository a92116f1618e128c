// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace constant_folding_test {

TEST(ConstantFolding, ComputesWhatIsKnown) {
  expect_cases(passes::constant_folding,
               {{"a: f32[2]",
                 "b: f32[] = constant {2}\nc: f32[] = neg b\nd: f32[] = mul c c\n"
                 "e: f32[2] = add a d\nreturn e c",
                 "b: f32[] = constant {-2}\nc: f32[] = constant {4}\nd: f32[2] = add a c\n"
                 "return d b"},
                {"",
                 "a: i32[2,1] = iota[shape=[2,1] dtype=i32 axis=0]\nb: i32[1,2] = "
                 "iota[shape=[1,2] dtype=i32 axis=1]\nc: bool[2,2] = eq a b\nreturn c",
                 "a: bool[2,2] = constant {true false false true}\nreturn a"}});
}

TEST(ConstantFolding, KeepsRepetitionsAndCountsThatAreLarge) {
  const std::string body =
      "a: f32[] = constant {2}\nb: f32[100] = broadcast_in_dim[shape=[100] "
      "broadcast_dimensions=[]] a\nc: f32[5000] = iota[shape=[5000] dtype=f32 axis=0]\n"
      "return b c";
  EXPECT_EQ(after(passes::constant_folding, "", body), body);
}

TEST(ConstantFolding, KeepsWhatWouldBeLarge) {
  const std::string body = "a: i32[1024,1] = constant {...}";
  const Graph g = parse_graph(
      "graph() {\n  a: i64[300,1] = iota[shape=[300,1] dtype=i64 axis=0]\n  b: i64[1,1000] = "
      "iota[shape=[1,1000] dtype=i64 axis=1]\n  c: i64[300,1000] = add a b\n  return c\n}");
  EXPECT_EQ(passes::constant_folding(g).equations.size(), 2u);
}

}  // namespace constant_folding_test
}  // namespace spruce
