// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace {

TEST(ExpandComposites, StepsOfOptimizersAreWrittenOut) {
  expect_cases(passes::expand_composites,
               {{"a: f32[3], b: f32[3]", "c: f32[3] = scaled_add[alpha=0.5 beta=2] a b\nreturn c",
                 "c: f32*[] = constant {2}\nd: f32*[] = constant {0.5}\ne: f32[3] = mul c b\n"
                 "f: f32[3] = mul d a\ng: f32[3] = add f e\nreturn g"}});
}

TEST(ExpandComposites, NotWhereThePartsWouldRound) {
  const std::string body = "c: bf16[3] = scaled_add[alpha=0.5 beta=2] a b\nreturn c";
  EXPECT_EQ(after(passes::expand_composites, "a: bf16[3], b: bf16[3]", body), body);
}

}  // namespace
}  // namespace spruce
