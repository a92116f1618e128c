// SPDX-License-Identifier: Apache-2.0
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

}  // namespace reductions_test
}  // namespace spruce
