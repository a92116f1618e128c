// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/compile/jit.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace fold_transposes_test {

std::string dot_to(const std::string& lhs, const std::string& rhs,
                   const std::string& batch = "[]") {
  return " = dot_general[lhs_contract=" + lhs + " rhs_contract=" + rhs + " lhs_batch=" + batch +
         " rhs_batch=" + batch + "] ";
}
std::string transpose_to(const std::string& perm) { return " = transpose[perm=" + perm + "] "; }

TEST(Layout, OperandsAreReadBeforeTheirTransposes) {
  expect_cases(passes::fold_transposes,
               {{"a: f32[3,2], b: f32[3,4]",
                 "c: f32[2,3]" + transpose_to("[1,0]") + "a\nd: f32[2,4]" + dot_to("[1]", "[0]") +
                     "c b\nreturn d",
                 "c: f32[2,4]" + dot_to("[0]", "[0]") + "a b\nreturn c"},
                {"a: f32[2,3], b: f32[4,3]",
                 "c: f32[3,4]" + transpose_to("[1,0]") + "b\nd: f32[2,4]" + dot_to("[1]", "[0]") +
                     "a c\nreturn d",
                 "c: f32[2,4]" + dot_to("[1]", "[1]") + "a b\nreturn c"},
                // Two free axes that keep their order.
                {"a: f32[10,128,64], b: f32[128,20]",
                 "c: f32[128,10,64]" + transpose_to("[1,0,2]") + "a\nd: f32[10,64,20]" +
                     dot_to("[0]", "[0]") + "c b\nreturn d",
                 "c: f32[10,64,20]" + dot_to("[1]", "[0]") + "a b\nreturn c"}});
}

TEST(Layout, ResultsAreWrittenTransposed) {
  expect_cases(
      passes::fold_transposes,
      {{"a: f32[2,3], b: f32[3,4]",
        "c: f32[2,4]" + dot_to("[1]", "[0]") + "a b\nd: f32[4,2]" + transpose_to("[1,0]") +
            "c\nreturn d",
        "c: f32[4,2]" + dot_to("[0]", "[1]") + "b a\nreturn c"},
       // Scaling is no obstacle.
       {"a: f32[2,3], b: f32[3,4]",
        "c: f32[] = constant {2}\nd: f32[2,4]" + dot_to("[1]", "[0]") +
            "a b\ne: f32[2,4] = mul d c\nf: f32[4,2]" + transpose_to("[1,0]") + "e\nreturn f",
        "c: f32[] = constant {2}\nd: f32[4,2]" + dot_to("[0]", "[1]") +
            "b a\ne: f32[4,2] = mul d c\nreturn e"},
       // Nor where the kernel writes what the transpose would.
       {"a: f32[8,3], b: f32[5,16,3]",
        "c: f32[] = constant {2}\nd: f32[8,5,16]" + dot_to("[1]", "[2]") +
            "a b\ne: f32[8,5,16] = mul d c\nf: f32[5,8,16]" + transpose_to("[1,0,2]") +
            "e\nreturn f",
        "c: f32[] = constant {2}\nd: f32[8,5,16]" + dot_to("[1]", "[2]") + "a b\ne: f32[5,8,16]" +
            transpose_to("[1,0,2]") + "d\nf: f32[5,8,16] = mul e c\nreturn f"},
       // Axes of size 1 need no transpose.
       {"a: f32[8,3], b: f32[5,1,3]",
        "c: f32[8,5,1]" + dot_to("[1]", "[2]") + "a b\nd: f32[5,8,1]" + transpose_to("[1,0,2]") +
            "c\nreturn d",
        "c: f32[5,1,8]" + dot_to("[2]", "[1]") +
            "b a\nd: f32[5,8,1] = reshape[shape=[5,8,1]] "
            "c\nreturn d"}});
}

TEST(Layout, SmallNeighboursAndSharedProductsKeepTheTranspose) {
  const std::string few = "c: f32[9,2,2]" + dot_to("[2]", "[0]") + "a b\nd: f32[9,2,2]" +
                          transpose_to("[0,2,1]") + "c\nreturn d";
  EXPECT_EQ(after(passes::fold_transposes, "a: f32[9,2,3], b: f32[3,2]", few), few);
  const std::string shared = "c: f32[2,4]" + dot_to("[1]", "[0]") + "a b\nd: f32[4,2]" +
                             transpose_to("[1,0]") + "c\nreturn d c";
  EXPECT_EQ(after(passes::fold_transposes, "a: f32[2,3], b: f32[3,4]", shared), shared);
}

TEST(Layout, BatchAxesChangePlaces) {
  expect_cases(passes::fold_transposes,
               {{"a: f32[2,3,4,5], b: f32[2,3,5,6]",
                 "c: f32[2,3,4,6]" + dot_to("[3]", "[2]", "[0,1]") + "a b\nd: f32[3,2,4,6]" +
                     transpose_to("[1,0,2,3]") + "c\nreturn d",
                 "c: f32[3,2,4,6]" + dot_to("[3]", "[2]", "[1,0]") + "a b\nreturn c"}});
}

TEST(Layout, ProductsOfSingleElementsAreMultiplications) {
  expect_cases(
      passes::fold_transposes,
      {{"a: f32[25,10,1], b: f32[40,1]",
        "c: f32[25,10,40]" + dot_to("[2]", "[1]") + "a b\nreturn c",
        "c: f32[1,1,40] = reshape[shape=[1,1,40]] b\nd: f32[25,10,40] = mul a c\nreturn d"},
       {"a: f32[3], b: f32[4]", "c: f32[3,4]" + dot_to("[]", "[]") + "a b\nreturn c",
        "c: f32[3,1] = reshape[shape=[3,1]] a\nd: f32[1,4] = reshape[shape=[1,4]] b\n"
        "e: f32[3,4] = mul c d\nreturn e"},
       {"a: f32[7,3,1], b: f32[7,1,4]",
        "c: f32[7,3,4]" + dot_to("[2]", "[1]", "[0]") + "a b\nreturn c",
        "c: f32[7,3,4] = mul a b\nreturn c"},
       {"a: bool[3,1], b: bool[1,4]", "c: bool[3,4]" + dot_to("[1]", "[0]") + "a b\nreturn c",
        "c: bool[3,4] = and a b\nreturn c"}});
}

TEST(Layout, SingleElementsKeepTheirAxes) {
  expect_cases(passes::fold_transposes,
               {{"a: f32[1,1], b: f32[1,1]",
                 "c: f32[1,1] = mul a b\nd: f32[1,1]" + transpose_to("[1,0]") + "c\nreturn d",
                 "c: f32[1,1] = mul a b\nreturn c"}});
}

TEST(Layout, TransposesMeetAndGo) {
  expect_cases(passes::fold_transposes,
               {{"a: f32[2,3], b: f32[2,3]",
                 "c: f32[] = constant {2}\nd: f32[3,2]" + transpose_to("[1,0]") + "a\ne: f32[3,2]" +
                     transpose_to("[1,0]") +
                     "b\nf: f32[3,2] = add d e\ng: f32[3,2] = mul f c\n"
                     "h: f32[3,2] = tanh g\nreturn h",
                 "c: f32[] = constant {2}\nd: f32[2,3] = add a b\ne: f32[2,3] = mul d c\n"
                 "f: f32[2,3] = tanh e\ng: f32[3,2]" +
                     transpose_to("[1,0]") + "f\nreturn g"},
                {"a: f32[4,1], b: f32[1,5]",
                 "c: f32[4,5] = mul a b\nd: f32[5,4]" + transpose_to("[1,0]") + "c\nreturn d",
                 "c: f32[1,4] = reshape[shape=[1,4]] a\nd: f32[5,1] = reshape[shape=[5,1]] b\n"
                 "e: f32[5,4] = mul c d\nreturn e"}});
}

TEST(Layout, ASumOverTheBatchIsPartOfTheProduct) {
  expect_cases(passes::fold_transposes,
               {{"a: f32[5,2,3], b: f32[5,3,4]",
                 "c: f32[5,2,4]" + dot_to("[2]", "[1]", "[0]") +
                     "a b\nd: f32[2,4] = reduce_sum[axes=[0]] c\nreturn d",
                 "c: f32[2,4]" + dot_to("[2,0]", "[1,0]") + "a b\nreturn c"}});
}

// The order of the free axes of the right operand falls: those of the result stand behind the batch
// and the free axes of the left one.
TEST(Layout, FreeAxesOfTheRightOperandMayFall) {
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), -7.0f);
  const Array b = array(numbers, {2, 3, 4}), a = array(numbers, {3, 4, 2});
  const auto product = [](const Array& x, const Array& y) {
    return tensordot(x, transpose(y, {2, 1, 0}), AxisArg(2), AxisArg(2));
  };
  const Array want = product(a, b);
  EXPECT_EQ(jit(product)(a, b).shape(), want.shape());
  EXPECT_EQ(jit(product)(a, b).to_vector<float>(), want.to_vector<float>());
  const DotParams batched{
      .lhs_contract = {2}, .rhs_contract = {3}, .lhs_batch = {0}, .rhs_batch = {0}};
  const auto rows = [&](const Array& x, const Array& y) {
    return dot_general(x, transpose(y, {0, 3, 1, 2}), batched);
  };
  const Array x = array(numbers, {2, 3, 4}), y = stack({x, x + 1.0f}, -1);
  EXPECT_EQ(jit(rows)(x, y).to_vector<float>(), rows(x, y).to_vector<float>());
}

}  // namespace fold_transposes_test
}  // namespace spruce
