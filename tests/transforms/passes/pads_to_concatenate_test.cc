// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace pads_to_concatenate_test {

TEST(Joins, PaddedPiecesAreConcatenated) {
  expect_cases(
      passes::pads_to_concatenate,
      {{"a: f32[2,1], b: f32[2,3], c: f32[2,2]",
        "d: f32[] = constant {0}\ne: f32[2,6] = pad[low=[0,5] high=[0,0] interior=[0,0]] a d\n"
        "f: f32[2,6] = pad[low=[0,2] high=[0,1] interior=[0,0]] b d\n"
        "g: f32[2,6] = pad[low=[0,0] high=[0,4] interior=[0,0]] c d\n"
        "h: f32[2,6] = add e f\ni: f32[2,6] = add h g\nreturn i",
        "d: f32[2,6] = concatenate[axis=1] c b a\nreturn d"}});
}

TEST(Joins, OthersStay) {
  for (const std::string second : {"pad[low=[2] high=[2] interior=[0]]",     // overlaps
                                   "pad[low=[4] high=[0] interior=[0]]"}) {  // leaves a gap
    const std::string body =
        "c: f32[] = constant {0}\nd: f32[6] = pad[low=[0] high=[3] interior=[0]] a c\n"
        "e: f32[6] = " +
        second + " b c\nf: f32[6] = add d e\nreturn f";
    EXPECT_EQ(after(passes::pads_to_concatenate, "a: f32[3], b: f32[2]", body), body);
  }
}

}  // namespace pads_to_concatenate_test
}  // namespace spruce
