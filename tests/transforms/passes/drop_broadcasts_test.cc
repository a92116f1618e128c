// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace drop_broadcasts_test {

TEST(Broadcasts, ThatTheOperationDoesItselfGo) {
  expect_cases(passes::drop_broadcasts,
               {{"a: f32[2,3], b: f32[3]",
                 "c: f32[2,3] = broadcast_in_dim[shape=[2,3] broadcast_dimensions=[1]] b\n"
                 "d: f32[2,3] = add a c\nreturn d",
                 "c: f32[2,3] = add a b\nreturn c"},
                {"a: f32[], b: f32[3]",
                 "c: f32[2,3] = broadcast_in_dim[shape=[2,3] broadcast_dimensions=[1]] b\n"
                 "d: f32[2,3] = add a c\nreturn d",
                 "c: f32[3] = add a b\nd: f32[2,3] = broadcast_in_dim[shape=[2,3] "
                 "broadcast_dimensions=[1]] c\nreturn d"},
                {"a: f32[2,3], b: f32[2]",
                 "c: f32[2,3] = broadcast_in_dim[shape=[2,3] broadcast_dimensions=[0]] b\n"
                 "d: f32[2,3] = add a c\nreturn d",
                 "c: f32[2,3] = broadcast_in_dim[shape=[2,3] broadcast_dimensions=[0]] b\n"
                 "d: f32[2,3] = add a c\nreturn d"}});
}

}  // namespace drop_broadcasts_test
}  // namespace spruce
