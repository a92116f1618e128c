// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace narrow_transposes_test {

const std::string kPerm = "transpose[perm=[0,2,1]] ";

TEST(NarrowTransposes, MovesTheArrayOfFewestBytes) {
  expect_cases(passes::narrow_transposes,
               {{"a: u8[2,64,3], b: f32[], c: f32[3]",
                 "d: f32[2,64,3] = convert_element_type[dtype=f32 weak=false] a\n"
                 "e: f32[2,64,3] = div d b\nf: f32[2,64,3] = sub e c\n"
                 "g: f32[2,3,64] = " +
                     kPerm + "f\nreturn g",
                 "d: u8[2,3,64] = " + kPerm +
                     "a\n"
                     "e: f32[2,3,64] = convert_element_type[dtype=f32 weak=false] d\n"
                     "f: f32[2,3,64] = div e b\n"
                     "g: f32[1,1,3] = reshape[shape=[1,1,3]] c\n"
                     "h: f32[1,3,1] = " +
                     kPerm +
                     "g\n"
                     "i: f32[2,3,64] = sub f h\nreturn i"}});
}

TEST(NarrowTransposes, OthersStay) {
  const std::string narrow = "a: bf16[2,64,3], b: f32[2,64,3]",
                    wide = "c: f32[2,64,3] = convert_element_type[dtype=f32 weak=false] a\n";
  for (const std::string& body :
       {// Somebody else reads what is moved.
        wide + "d: f32[2,3,64] = " + kPerm + "c\nreturn c d",
        // What it is made of is read twice, or a result.
        wide + "d: f32[2,64,3] = mul c c\ne: f32[2,3,64] = " + kPerm + "d\nreturn e",
        wide + "d: f32[2,64,3] = exp c\ne: f32[2,3,64] = " + kPerm + "d\nreturn e c",
        // Two arrays would have to be moved.
        wide + "d: f32[2,64,3] = add c b\ne: f32[2,3,64] = " + kPerm + "d\nreturn e",
        // What is moved is as narrow as what it is made of.
        "c: f32[2,64,3] = exp b\nd: f32[2,3,64] = " + kPerm + "c\nreturn d",
        // The product reads its operand across the transpose.
        "c: f32[2,64,3] = convert_element_type[dtype=f32 weak=false] a\n"
        "d: f32[2,3,64] = " +
            kPerm +
            "c\n"
            "e: f32[2,3,3] = dot_general[lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] "
            "rhs_batch=[0]] d b\nreturn e"}) {
    EXPECT_EQ(after(passes::narrow_transposes, narrow, body), body);
  }
}

}  // namespace narrow_transposes_test
}  // namespace spruce
