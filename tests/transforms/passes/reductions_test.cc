// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tuple>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace reductions_test {

TEST(Reductions, OfOneElement) {
  expect_cases(passes::reductions,
               {{"a: f32[1,3,1]", "b: f32[3] = reduce_sum[axes=[0,2]] a\nreturn b",
                 "b: f32[3] = reshape[shape=[3]] a\nreturn b"},
                {"a: f32[3]", "b: f32[3] = reduce_max[axes=[]] a\nreturn b", "return a"}});
}

TEST(Reductions, InARow) {
  expect_cases(
      passes::reductions,
      {{"a: f64[2,3,4]",
        "b: f64[2,4] = reduce_sum[axes=[1]] a\nc: f64[4] = reduce_sum[axes=[0]] b\nreturn c",
        "b: f64[4] = reduce_sum[axes=[0,1]] a\nreturn b"},
       {"a: f64[2,3,4]",
        "b: f64[2,4] = reduce_max[axes=[1]] a\nc: f64[2] = reduce_max[axes=[1]] b\nreturn c",
        "b: f64[2] = reduce_max[axes=[1,2]] a\nreturn b"},
       // The one between is wanted too, and 16 bits round between the two.
       {"a: f64[2,3,4]",
        "b: f64[2,4] = reduce_sum[axes=[1]] a\nc: f64[4] = reduce_sum[axes=[0]] b\nreturn b c",
        "b: f64[2,4] = reduce_sum[axes=[1]] a\nc: f64[4] = reduce_sum[axes=[0]] b\nreturn b c"},
       {"a: bf16[2,3,4]",
        "b: bf16[2,4] = reduce_sum[axes=[1]] a\nc: bf16[4] = reduce_sum[axes=[0]] b\nreturn c",
        "b: bf16[2,4] = reduce_sum[axes=[1]] a\nc: bf16[4] = reduce_sum[axes=[0]] b\n"
        "return c"}});
}

TEST(Reductions, OfCopies) {
  const std::string copies =
      "b: f64[2,3,4] = broadcast_in_dim[shape=[2,3,4] broadcast_dimensions=[1]] a\n";
  expect_cases(
      passes::reductions,
      {{"a: f64[3]", copies + "c: f64[3] = reduce_sum[axes=[0,2]] b\nreturn c",
        "b: f64[] = constant {8}\nc: f64[3] = mul a b\nreturn c"},
       {"a: f64[3]", copies + "c: f64[2] = reduce_sum[axes=[1,2]] b\nreturn c",
        "b: f64[] = constant {4}\nc: f64[] = reduce_sum[axes=[0]] a\nd: f64[] = mul c b\n"
        "e: f64[2] = broadcast_in_dim[shape=[2] broadcast_dimensions=[]] d\nreturn e"},
       {"a: f64[3]", copies + "c: f64[3] = reduce_max[axes=[0,2]] b\nreturn c", "return a"}});
}

TEST(Reductions, OfTransposesAndSigns) {
  expect_cases(passes::reductions,
               {{"a: f64[2,3,4]",
                 "b: f64[4,2,3] = transpose[perm=[2,0,1]] a\nc: f64[2,3] = reduce_sum[axes=[0]] "
                 "b\nreturn c",
                 "b: f64[2,3] = reduce_sum[axes=[2]] a\nreturn b"},
                {"a: f64[2,3]", "b: f64[2,3] = neg a\nc: f64[2] = reduce_sum[axes=[1]] b\nreturn c",
                 "b: f64[2] = reduce_sum[axes=[1]] a\nc: f64[2] = neg b\nreturn c"}});
}

// Extrema only: sums of stacks are added in another order.
TEST(Reductions, OfStacks) {
  const std::string two = "a: f32[1,3], b: f32[1,3]",
                    stack = "c: f32[2,3] = concatenate[axis=0] a b\n",
                    largest = "d: f32[3] = reduce_max[axes=[0]] c\nreturn d";
  const auto stays = [](const std::string& inputs, const std::string& body) {
    return PassCase{inputs, body, body};
  };
  expect_cases(
      passes::reductions,
      {{two, stack + largest,
        "c: f32[3] = reshape[shape=[3]] a\nd: f32[3] = reshape[shape=[3]] b\n"
        "e: f32[3] = max c d\nreturn e"},
       {"a: f32[4,1,5], b: f32[4,1,5]",
        "c: f32[4,3,5] = concatenate[axis=1] a b a\nd: f32[4] = reduce_min[axes=[1,2]] c\nreturn d",
        "c: f32[4,5] = reshape[shape=[4,5]] a\nd: f32[4,5] = reshape[shape=[4,5]] b\n"
        "e: f32[4,5] = min c d\nf: f32[4,5] = reshape[shape=[4,5]] a\n"
        "g: f32[4,5] = min e f\nh: f32[4] = reduce_min[axes=[1]] g\nreturn h"},
       stays(two, stack + "d: f32[3] = reduce_sum[axes=[0]] c\nreturn d"),
       stays(two, stack + "d: f32[3] = reduce_max[axes=[0]] c\nreturn d c"),
       stays(two, stack + "d: f32[2] = reduce_max[axes=[1]] c\nreturn d"),
       stays("a: f32[1,3], b: f32[3,3]", "c: f32[4,3] = concatenate[axis=0] a b\n" + largest)});
}

TEST(Reductions, OfStacksAreThoseOfSingleOperations) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array x = array<float>({1, nan, -3, 4}), y = array<float>({2, 1, nan, -4});
  for (const int axis : {0, 1, -1}) {
    const auto f = [axis](const Array& a, const Array& b) {
      const Array all = stack({a, -b, a * b}, axis);
      return std::tuple{max(all, axis), min(all, axis), max(all)};
    };
    const auto [largest, smallest, whole] = f(x, y);
    const auto [a, b, c] = jit(f)(x, y);
    EXPECT_TRUE(array_equal(a, largest, {.equal_nan = true})) << a;
    EXPECT_TRUE(array_equal(b, smallest, {.equal_nan = true})) << b;
    EXPECT_TRUE(array_equal(c, whole, {.equal_nan = true})) << c;
  }
}

}  // namespace reductions_test
}  // namespace spruce
