// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace scatter_to_select_test {

const char* const kInputs = "a: i32[4,1,1], b: f32[4,1]";
const std::string kScatter =
    "c: f32[] = constant {0}\nd: f32[4,3] = broadcast_in_dim[shape=[4,3] "
    "broadcast_dimensions=[]] c\ne: f32[4,3] = scatter_add[offset_dims=[] collapsed_dims=[1] "
    "start_index_map=[1] operand_batch_dims=[0] indices_batch_dims=[0] window=[1,1] clip=";

TEST(OneHot, AScatterOfOnePlaceIsAChoice) {
  EXPECT_EQ(
      after(passes::scatter_to_select, kInputs, kScatter + "false wraps=false] d a b\nreturn e"),
      "c: f32[] = constant {0}\nd: i32[4,1] = reshape[shape=[4,1]] a\n"
      "e: i32[1,3] = iota[shape=[1,3] dtype=i32 axis=1]\nf: bool[4,3] = eq d e\n"
      "g: f32[4,3] = select f b c\nreturn g");
  EXPECT_EQ(
      after(passes::scatter_to_select, kInputs, kScatter + "true wraps=false] d a b\nreturn e"),
      "c: i32[] = constant {2}\nd: i32[] = constant {0}\ne: f32[] = constant {0}\n"
      "f: i32[4,1] = reshape[shape=[4,1]] a\ng: i32[4,1] = min f c\n"
      "h: i32[4,1] = max g d\ni: i32[1,3] = iota[shape=[1,3] dtype=i32 axis=1]\n"
      "j: bool[4,3] = eq h i\nk: f32[4,3] = select j b e\nreturn k");
}

TEST(OneHot, ItsSumIsTheUpdate) {
  EXPECT_EQ(
      after(passes::scatter_to_select, kInputs,
            kScatter + "true wraps=false] d a b\nf: f32[4] = reduce_sum[axes=[1]] e\nreturn f"),
      "c: f32[4] = reduce_sum[axes=[1]] b\nreturn c");
}

TEST(OneHot, APickFromFewIsASumOfChoices) {
  const auto pick = [](const std::string& n) {
    return after(
        passes::scatter_to_select, "a: f32[4," + n + "], b: i32[4,1,1]",
        "c: f32[4,1] = gather[offset_dims=[] collapsed_dims=[1] start_index_map=[1] "
        "operand_batch_dims=[0] indices_batch_dims=[0] window=[1,1] clip=false wraps=false] a b\n"
        "return c");
  };
  EXPECT_EQ(pick("3"),
            "c: f32[] = constant {0}\nd: i32[4,1] = reshape[shape=[4,1]] b\n"
            "e: i32[1,3] = iota[shape=[1,3] dtype=i32 axis=1]\nf: bool[4,3] = eq d e\n"
            "g: f32[4,3] = select f a c\nh: f32[4] = reduce_sum[axes=[1]] g\n"
            "i: f32[4,1] = reshape[shape=[4,1]] h\nreturn i");
  EXPECT_EQ(pick("1000").substr(0, 17), "c: f32[4,1] = gat");
}

TEST(OneHot, ScattersOfSeveralPlacesStay) {
  const std::string body =
      "c: f32[] = constant {0}\nd: f32[3] = broadcast_in_dim[shape=[3] broadcast_dimensions=[]] "
      "c\ne: f32[3] = scatter_add[offset_dims=[] collapsed_dims=[0] start_index_map=[0] "
      "operand_batch_dims=[] indices_batch_dims=[] window=[1] clip=true wraps=false] d a b\nreturn "
      "e";
  EXPECT_EQ(after(passes::scatter_to_select, "a: i32[4,1], b: f32[4]", body), body);
}

}  // namespace scatter_to_select_test
}  // namespace spruce
