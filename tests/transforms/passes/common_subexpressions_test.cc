// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace common_subexpressions_test {

TEST(CommonSubexpressions, InputsOfCommutativeOperationsHaveNoOrder) {
  expect_cases(passes::common_subexpressions,
               {{"a: f32[3], b: f32[3]",
                 "c: f32[3] = mul a b\nd: f32[3] = mul b a\ne: f32[3] = sub c d\nreturn e",
                 "c: f32[3] = mul a b\nd: f32[3] = sub c c\nreturn d"},
                {"a: f32[3], b: f32[3]",
                 "c: f32[3] = sub a b\nd: f32[3] = sub b a\ne: f32[3] = add c d\nreturn e",
                 "c: f32[3] = sub a b\nd: f32[3] = sub b a\ne: f32[3] = add c d\nreturn e"}});
}

}  // namespace common_subexpressions_test
}  // namespace spruce
