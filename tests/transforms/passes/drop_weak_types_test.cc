// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace drop_weak_types_test {

TEST(SettleTypes, WeakValuesBecomeStrongUpToTheResults) {
  expect_cases(passes::drop_weak_types,
               {{"a: f32*[]", "b: f32*[] = constant {2}\nc: f32*[] = mul a b\nreturn c",
                 "b: f32[] = constant {2}\nc: f32[] = mul a b\nd: f32*[] = "
                 "convert_element_type[dtype=f32 weak=true] c\nreturn d"},
                {"a: f32[2]",
                 "b: f64*[] = constant {2}\nc: f32*[] = convert_element_type[dtype=f32 weak=true] "
                 "b\nd: f32[2] = mul a c\nreturn d",
                 "b: f64[] = constant {2}\nc: f32[] = convert_element_type[dtype=f32 weak=false] "
                 "b\nd: f32[2] = mul a c\nreturn d"}});
}

}  // namespace drop_weak_types_test
}  // namespace spruce
