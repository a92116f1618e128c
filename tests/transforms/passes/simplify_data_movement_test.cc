// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace simplify_data_movement_test {

std::string reshape_to(const std::string& to) { return " = reshape[shape=" + to + "] "; }
std::string transpose_to(const std::string& perm) { return " = transpose[perm=" + perm + "] "; }
std::string broadcast(const std::string& to, const std::string& dims) {
  return " = broadcast_in_dim[shape=" + to + " broadcast_dimensions=" + dims + "] ";
}
std::string slice(const std::string& start, const std::string& limit, const std::string& stride) {
  return " = slice[start=" + start + " limit=" + limit + " stride=" + stride + "] ";
}

TEST(Movement, Reshapes) {
  expect_cases(
      passes::simplify_data_movement,
      {{"a: f32[2,3]", "b: f32[2,3]" + reshape_to("[2,3]") + "a\nreturn b", "return a"},
       {"a: f32[2,3]",
        "b: f32[6]" + reshape_to("[6]") + "a\nc: f32[3,2]" + reshape_to("[3,2]") + "b\nreturn c",
        "b: f32[3,2]" + reshape_to("[3,2]") + "a\nreturn b"},
       {"a: f32[2,3]",
        "b: f32[6]" + reshape_to("[6]") + "a\nc: f32[2,3]" + reshape_to("[2,3]") + "b\nreturn c",
        "return a"}});
}

TEST(Movement, Transposes) {
  expect_cases(passes::simplify_data_movement,
               {{"a: f32[2,3]", "b: f32[2,3]" + transpose_to("[0,1]") + "a\nreturn b", "return a"},
                {"a: f32[2,3,4]",
                 "b: f32[3,4,2]" + transpose_to("[1,2,0]") + "a\nc: f32[2,3,4]" +
                     transpose_to("[2,0,1]") + "b\nreturn c",
                 "return a"},
                {"a: f32[2,3,4]",
                 "b: f32[3,2,4]" + transpose_to("[1,0,2]") + "a\nc: f32[4,3,2]" +
                     transpose_to("[2,0,1]") + "b\nreturn c",
                 "b: f32[4,3,2]" + transpose_to("[2,1,0]") + "a\nreturn b"},
                // Axes of size 1 move no elements.
                {"a: f32[1,5]", "b: f32[5,1]" + transpose_to("[1,0]") + "a\nreturn b",
                 "b: f32[5,1]" + reshape_to("[5,1]") + "a\nreturn b"},
                {"a: f32[3]",
                 "b: f32[3,4]" + broadcast("[3,4]", "[0]") + "a\nc: f32[4,3]" +
                     transpose_to("[1,0]") + "b\nreturn c",
                 "b: f32[4,3]" + broadcast("[4,3]", "[1]") + "a\nreturn b"}});
}

TEST(Movement, Broadcasts) {
  expect_cases(
      passes::simplify_data_movement,
      {{"a: f32[3]", "b: f32[3]" + broadcast("[3]", "[0]") + "a\nreturn b", "return a"},
       {"a: f32[3]", "b: f32[1,3]" + broadcast("[1,3]", "[1]") + "a\nreturn b",
        "b: f32[1,3]" + reshape_to("[1,3]") + "a\nreturn b"},
       {"a: f32[3]",
        "b: f32[3,4]" + broadcast("[3,4]", "[0]") + "a\nc: f32[2,3,4]" +
            broadcast("[2,3,4]", "[1,2]") + "b\nreturn c",
        "b: f32[2,3,4]" + broadcast("[2,3,4]", "[1]") + "a\nreturn b"},
       {"a: f32[3]",
        "b: f32[3,1]" + reshape_to("[3,1]") + "a\nc: f32[3,4]" + broadcast("[3,4]", "[0,1]") +
            "b\nreturn c",
        "b: f32[3,4]" + broadcast("[3,4]", "[0]") + "a\nreturn b"},
       {"a: f32[3,1]",
        "b: f32[3]" + reshape_to("[3]") + "a\nc: f32[3,4]" + broadcast("[3,4]", "[0]") +
            "b\nreturn c",
        "b: f32[3]" + reshape_to("[3]") + "a\nc: f32[3,4]" + broadcast("[3,4]", "[0]") +
            "b\nreturn c"},
       {"a: f32[1]",
        "b: f32[2,3]" + broadcast("[2,3]", "[1]") + "a\nc: f32[6]" + reshape_to("[6]") +
            "b\nreturn c",
        "b: f32[]" + reshape_to("[]") + "a\nc: f32[6]" + broadcast("[6]", "[]") + "b\nreturn c"}});
}

TEST(Movement, Slices) {
  expect_cases(passes::simplify_data_movement,
               {{"a: f32[4]", "b: f32[4]" + slice("[0]", "[4]", "[1]") + "a\nreturn b", "return a"},
                {"a: f32[20]",
                 "b: f32[6]" + slice("[2]", "[20]", "[3]") + "a\nc: f32[2]" +
                     slice("[1]", "[5]", "[2]") + "b\nreturn c",
                 "b: f32[2]" + slice("[5]", "[12]", "[6]") + "a\nreturn b"},
                {"a: f32[3], b: f32[5]",
                 "c: f32[8] = concatenate[axis=0] a b\nd: f32[2]" + slice("[4]", "[6]", "[1]") +
                     "c\nreturn d",
                 "c: f32[2]" + slice("[1]", "[3]", "[1]") + "b\nreturn c"},
                {"a: f32[3], b: f32[5]",
                 "c: f32[8] = concatenate[axis=0] a b\nd: f32[3]" + slice("[0]", "[3]", "[1]") +
                     "c\nreturn d",
                 "return a"},
                {"a: f32[3]",
                 "b: f32[3,4]" + broadcast("[3,4]", "[0]") + "a\nc: f32[3,2]" +
                     slice("[0,1]", "[3,3]", "[1,1]") + "b\nreturn c",
                 "b: f32[3,2]" + broadcast("[3,2]", "[0]") + "a\nreturn b"}});
}

TEST(Movement, Pads) {
  expect_cases(passes::simplify_data_movement,
               {{"a: f32[4]",
                 "b: f32[] = constant {0}\nc: f32[4] = pad[low=[0] high=[0] interior=[0]] a "
                 "b\nreturn c",
                 "return a"},
                {"a: f32[4]",
                 "b: f32[] = constant {0}\nc: f32[1] = pad[low=[-1] high=[-2] interior=[0]] a "
                 "b\nreturn c",
                 "b: f32[1]" + slice("[1]", "[2]", "[1]") + "a\nreturn b"}});
}

TEST(Movement, Concatenations) {
  expect_cases(
      passes::simplify_data_movement,
      {{"a: f32[4]", "b: f32[4] = concatenate[axis=0] a\nreturn b", "return a"},
       {"a: f32[4], b: f32[0]", "c: f32[4] = concatenate[axis=0] a b\nreturn c", "return a"},
       {"a: f32[4], b: f32[2], c: f32[1]",
        "d: f32[6] = concatenate[axis=0] a b\ne: f32[7] = concatenate[axis=0] d c\nreturn e",
        "d: f32[7] = concatenate[axis=0] a b c\nreturn d"},
       {"a: f32[9]",
        "b: f32[4]" + slice("[1]", "[5]", "[1]") + "a\nc: f32[3]" + slice("[5]", "[8]", "[1]") +
            "a\nd: f32[7] = concatenate[axis=0] b c\nreturn d",
        "b: f32[7]" + slice("[1]", "[8]", "[1]") + "a\nreturn b"}});
}

TEST(Movement, Reversals) {
  expect_cases(passes::simplify_data_movement,
               {{"a: f32[2,3]",
                 "b: f32[2,3] = rev[axes=[1]] a\nc: f32[2,3] = rev[axes=[1]] "
                 "b\nreturn c",
                 "return a"},
                {"a: f32[1,3]", "b: f32[1,3] = rev[axes=[0]] a\nreturn b", "return a"}});
}

}  // namespace simplify_data_movement_test
}  // namespace spruce
