// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace push_slices_up_test {

TEST(Slices, AChainOfOperationsIsComputedForEach) {
  expect_cases(passes::push_slices_up,
               {{"a: f32[4,256], b: f32[4,256], c: f32[]",
                 "d: f32[4,256] = add a b\ne: f32[4,256] = mul d c\n"
                 "f: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] e\n"
                 "g: f32[4,128] = slice[start=[0,128] limit=[4,256] stride=[1,1]] e\n"
                 "h: f32[4,128] = sub f g\nreturn h",
                 "d: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] a\n"
                 "e: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] b\n"
                 "f: f32[4,128] = add d e\ng: f32[4,128] = mul f c\n"
                 "h: f32[4,128] = slice[start=[0,128] limit=[4,256] stride=[1,1]] a\n"
                 "i: f32[4,128] = slice[start=[0,128] limit=[4,256] stride=[1,1]] b\n"
                 "j: f32[4,128] = add h i\nk: f32[4,128] = mul j c\n"
                 "l: f32[4,128] = sub g k\nreturn l"}});
}

TEST(Slices, WhatIsReadAsAWholeIsComputedAsAWhole) {
  const std::string head =
      "b: f32[512] = exp a\nc: f32[256] = slice[start=[0] limit=[256] stride=[1]] b\n";
  for (const std::string tail : {"return c b", "d: f32[512] = neg b\nreturn c d"})
    EXPECT_EQ(after(passes::push_slices_up, "a: f32[512]", head + tail), head + tail);
}

TEST(Slices, NothingIsComputedTwice) {
  const std::string body =
      "b: f32[512] = exp a\nc: f32[256] = slice[start=[0] limit=[256] stride=[1]] b\n"
      "d: f32[384] = slice[start=[128] limit=[512] stride=[1]] b\nreturn c d";
  EXPECT_EQ(after(passes::push_slices_up, "a: f32[512]", body), body);
}

TEST(Slices, OthersStay) {
  for (const std::string slice : {"f32[4,100] = slice[start=[0,0] limit=[4,100] stride=[1,1]]",
                                  "f32[4,128] = slice[start=[0,0] limit=[4,256] stride=[1,2]]"}) {
    const std::string body = "b: f32[4,256] = exp a\nc: " + slice + " b\nreturn c";
    EXPECT_EQ(after(passes::push_slices_up, "a: f32[4,256]", body), body);
  }
  const std::string broadcast =
      "c: f32[4,256] = add a b\nd: f32[4,128] = slice[start=[0,0] limit=[4,128] stride=[1,1]] c\n"
      "return d";
  EXPECT_EQ(after(passes::push_slices_up, "a: f32[4,256], b: f32[1,256]", broadcast), broadcast);
}

TEST(Slices, OfTheSameOperandAreOne) {
  expect_cases(passes::push_slices_up,
               {{"a: f32[512]",
                 "b: f32[512] = mul a a\nc: f32[256] = slice[start=[0] limit=[256] stride=[1]] b\n"
                 "return c",
                 "b: f32[256] = slice[start=[0] limit=[256] stride=[1]] a\n"
                 "c: f32[256] = mul b b\nreturn c"}});
}

}  // namespace push_slices_up_test
}  // namespace spruce
