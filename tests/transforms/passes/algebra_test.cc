// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace algebra_test {

const char* const kZero = "b: f32[] = constant {0}\n";
const char* const kOne = "b: f32[] = constant {1}\n";

TEST(Algebra, NeutralElements) {
  expect_cases(passes::algebra,
               {{"a: f32[3]", kZero + std::string("c: f32[3] = add a b\nreturn c"), "return a"},
                {"a: f32[3]", kZero + std::string("c: f32[3] = sub a b\nreturn c"), "return a"},
                {"a: f32[3]", kZero + std::string("c: f32[3] = sub b a\nreturn c"),
                 "b: f32[3] = neg a\nreturn b"},
                {"a: f32[3]", kOne + std::string("c: f32[3] = mul b a\nreturn c"), "return a"},
                {"a: f32[3]", kOne + std::string("c: f32[3] = div a b\nreturn c"), "return a"},
                {"a: f32[3]", kOne + std::string("c: f32[3] = div b a\nreturn c"),
                 "b: f32[] = constant {1}\nc: f32[3] = div b a\nreturn c"}});
}

TEST(Algebra, ARepeatedNumberIsThatNumber) {
  expect_cases(passes::algebra,
               {{"a: f32[3]",
                 "b: f32[] = constant {1}\nc: f32[2,3] = broadcast_in_dim[shape=[2,3] "
                 "broadcast_dimensions=[]] b\nd: f32[2,3] = mul a c\nreturn d",
                 "b: f32[2,3] = broadcast_in_dim[shape=[2,3] broadcast_dimensions=[1]] a\n"
                 "return b"}});
}

TEST(Algebra, ZeroTimesAFloatMayBeNan) {
  expect_cases(passes::algebra,
               {{"a: f32[3]", kZero + std::string("c: f32[3] = mul a b\nreturn c"),
                 "b: f32[] = constant {0}\nc: f32[3] = mul a b\nreturn c"},
                {"a: i32[3]", "b: i32[] = constant {0}\nc: i32[3] = mul a b\nreturn c",
                 "b: i32[] = constant {0}\nc: i32[3] = broadcast_in_dim[shape=[3] "
                 "broadcast_dimensions=[]] b\nreturn c"}});
}

TEST(Algebra, Signs) {
  expect_cases(
      passes::algebra,
      {{"a: f32[3]", "b: f32[3] = neg a\nc: f32[3] = neg b\nreturn c", "return a"},
       {"a: f32[3], b: f32[3]", "c: f32[3] = neg b\nd: f32[3] = add a c\nreturn d",
        "c: f32[3] = sub a b\nreturn c"},
       {"a: f32[3], b: f32[3]", "c: f32[3] = neg b\nd: f32[3] = sub a c\nreturn d",
        "c: f32[3] = add a b\nreturn c"},
       {"a: f32[3], b: f32[3]", "c: f32[3] = neg a\nd: f32[3] = add c b\nreturn d",
        "c: f32[3] = sub b a\nreturn c"},
       {"a: f32[3], b: f32[3]", "c: f32[3] = sub a b\nd: f32[3] = neg c\nreturn d",
        "c: f32[3] = sub b a\nreturn c"},
       {"a: f32[3], b: f32[3]",
        "c: f32[3] = neg a\nd: f32[3] = neg b\ne: f32[3] = mul c d\nreturn e",
        "c: f32[3] = mul a b\nreturn c"},
       {"a: f32[3]", "b: f32[] = constant {2}\nc: f32[3] = neg a\nd: f32[3] = mul c b\nreturn d",
        "b: f32[] = constant {-2}\nc: f32[3] = mul a b\nreturn c"},
       {"a: f32[3]", "b: f32[] = constant {2}\nc: f32[3] = mul a b\nd: f32[3] = neg c\nreturn d",
        "b: f32[] = constant {-2}\nc: f32[3] = mul a b\nreturn c"},
       {"a: f32[3]", "b: f32[3] = neg a\nc: f32[3] = abs b\nreturn c",
        "b: f32[3] = abs a\nreturn b"}});
}

TEST(Algebra, ASubtractionThatIsUsedElsewhereStays) {
  expect_cases(passes::algebra,
               {{"a: f32[3], b: f32[3]", "c: f32[3] = sub a b\nd: f32[3] = neg c\nreturn d c",
                 "c: f32[3] = sub a b\nd: f32[3] = neg c\nreturn d c"}});
}

TEST(Algebra, PowersOfTwoDivideByMultiplying) {
  expect_cases(passes::algebra,
               {{"a: f32[3]", "b: f32[] = constant {8}\nc: f32[3] = div a b\nreturn c",
                 "b: f32[] = constant {0.125}\nc: f32[3] = mul a b\nreturn c"},
                {"a: f32[3]", "b: f32[] = constant {10}\nc: f32[3] = div a b\nreturn c",
                 "b: f32[] = constant {10}\nc: f32[3] = div a b\nreturn c"},
                {"a: i32[3]", "b: i32[] = constant {8}\nc: i32[3] = div a b\nreturn c",
                 "b: i32[] = constant {8}\nc: i32[3] = div a b\nreturn c"}});
}

TEST(Algebra, Powers) {
  expect_cases(passes::algebra,
               {{"a: f64[3]", "b: f64[] = constant {2}\nc: f64[3] = pow a b\nreturn c",
                 "b: f64[3] = integer_pow[n=2] a\nreturn b"},
                {"a: f64[3]", "b: f64[] = constant {1}\nc: f64[3] = pow a b\nreturn c", "return a"},
                {"a: f64[3]", "b: f64[] = constant {0.5}\nc: f64[3] = pow a b\nreturn c",
                 "b: f64[] = constant {0.5}\nc: f64[3] = pow a b\nreturn c"},
                {"a: f64[]", "b: f64[] = integer_pow[n=0] a\nreturn b",
                 "b: f64[] = constant {1}\nreturn b"}});
}

TEST(Algebra, Choices) {
  expect_cases(
      passes::algebra,
      {{"a: f32[3], b: f32[3]", "c: bool[] = constant {true}\nd: f32[3] = select c a b\nreturn d",
        "return a"},
       {"a: bool[3], b: f32[3]", "c: f32[3] = select a b b\nreturn c", "return b"},
       {"a: bool[3], b: f32[3], c: f32[3]",
        "d: bool[3] = not a\ne: f32[3] = select d b c\nreturn e",
        "d: f32[3] = select a c b\nreturn d"},
       {"a: bool[3], b: f32[3], c: f32[3]",
        "d: f32[3] = select a b c\ne: f32[3] = select a d c\nreturn e",
        "d: f32[3] = select a b c\nreturn d"},
       {"a: f32[3], b: f32[3]", "c: bool[3] = eq a b\nd: bool[3] = not c\nreturn d",
        "c: bool[3] = ne a b\nreturn c"},
       {"a: f32[3], b: f32[3]", "c: bool[3] = lt a b\nd: bool[3] = not c\nreturn d",
        "c: bool[3] = lt a b\nd: bool[3] = not c\nreturn d"},
       {"a: bool[3]", "b: bool[] = constant {true}\nc: bool[3] = and a b\nreturn c", "return a"},
       {"a: bool[3]", "b: bool[] = constant {false}\nc: bool[3] = or b a\nreturn c", "return a"}});
}

std::string converted(const std::string& from, const std::string& by, const std::string& to) {
  return after(passes::algebra, "a: " + from + "[3]",
               "b: " + by + "[3] = convert_element_type[dtype=" + by + " weak=false] a\nc: " + to +
                   "[3] = convert_element_type[dtype=" + to + " weak=false] b\nreturn c");
}

TEST(Algebra, ConversionsThatLoseNothing) {
  const auto direct = [](const std::string& to) {
    return "b: " + to + "[3] = convert_element_type[dtype=" + to + " weak=false] a\nreturn b";
  };
  EXPECT_EQ(converted("f16", "f32", "f16"), "return a");
  EXPECT_EQ(converted("bf16", "f32", "f64"), direct("f64"));
  EXPECT_EQ(converted("bool", "i32", "f32"), direct("f32"));
  EXPECT_EQ(converted("i32", "i64", "i8"), direct("i8"));
  EXPECT_EQ(converted("i8", "f32", "f64"), direct("f64"));
  EXPECT_NE(converted("f32", "f16", "f32"), "return a");
  EXPECT_NE(converted("i32", "f64", "i8"), direct("i8"));  // saturates instead of wrapping
  EXPECT_NE(converted("i32", "f32", "f64"), direct("f64"));
  EXPECT_NE(converted("u32", "i32", "i64"), direct("i64"));
}

TEST(Algebra, AChoiceTimesItsCondition) {
  const std::string number = "d: f32[3] = convert_element_type[dtype=f32 weak=false] a\n";
  expect_cases(passes::algebra,
               {{"a: bool[3], b: f32[3]",
                 "c: f32[] = constant {0}\n" + number +
                     "e: f32[3] = select a b c\nf: f32[3] = mul e d\nreturn f",
                 "c: f32[] = constant {0}\nd: f32[3] = select a b c\nreturn d"},
                {"a: bool[3], b: f32[3], c: f32[3]",
                 number + "e: f32[3] = mul d b\nf: f32[3] = select a e c\nreturn f",
                 "d: f32[3] = select a b c\nreturn d"},
                // Outside of the condition, c is no zero.
                {"a: bool[3], b: f32[3], c: f32[3]",
                 number + "e: f32[3] = select a b c\nf: f32[3] = mul e d\nreturn f",
                 number + "e: f32[3] = select a b c\nf: f32[3] = mul e d\nreturn f"}});
}

TEST(Algebra, IdentitiesOfTransformsGo) {
  expect_cases(passes::algebra, {{"a: f32[3]",
                                  "b: f32[3] = copy a\nc: f32[3] = stop_gradient b\nd: f32[3] = "
                                  "convert_element_type[dtype=f32 weak=false] c\nreturn d",
                                  "return a"}});
}

}  // namespace algebra_test
}  // namespace spruce
