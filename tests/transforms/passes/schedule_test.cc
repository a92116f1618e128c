// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "spruce/transforms/compile/plan.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce {
namespace schedule_test {

// Three large values that each shrink to a scalar: one after the other needs the memory of one.
constexpr const char* kWide = R"(graph(a: f32[1000]) {
  b: f32[1000] = exp a
  c: f32[1000] = sin a
  d: f32[1000] = cos a
  e: f32[] = reduce_sum[axes=[0]] b
  f: f32[] = reduce_sum[axes=[0]] c
  g: f32[] = reduce_sum[axes=[0]] d
  return e f g
})";

TEST(Schedule, UsesWhatIsLargeBeforeTheNextIsMade) {
  EXPECT_EQ(passes::schedule(parse_graph(kWide)).text(), R"(graph(a: f32[1000]) {
  b: f32[1000] = exp a
  e: f32[] = reduce_sum[axes=[0]] b
  c: f32[1000] = sin a
  f: f32[] = reduce_sum[axes=[0]] c
  d: f32[1000] = cos a
  g: f32[] = reduce_sum[axes=[0]] d
  return e f g
})");
}

TEST(Schedule, LowersThePeakOfThePlan) {
  const Graph before = parse_graph(kWide);
  const internal::Plan plain(before), ordered(passes::schedule(before));
  EXPECT_LT(2 * ordered.temporary_bytes(), plain.temporary_bytes());
}

// The update of a parameter waits until its old value has been read for the last time, so that it
// can have its memory.
TEST(Schedule, WritesOverInputsAfterTheirLastUse) {
  EXPECT_EQ(passes::schedule(parse_graph(R"(graph(a: f32[1000]) {
  b: f32[1000] = neg a
  c: f32[] = reduce_sum[axes=[0]] a
  return b c
})"))
                .text(),
            R"(graph(a: f32[1000]) {
  c: f32[] = reduce_sum[axes=[0]] a
  b: f32[1000] = neg a
  return b c
})");
}

TEST(Schedule, KeepsAnOrderThatIsAsGood) {
  const char* text = R"(graph(a: f32[8], b: f32[8]) {
  c: f32[8] = add a b
  d: f32[2,4] = reshape[shape=[2,4]] c
  e: f32[2,4] = mul d d
  f: f32[8] = exp c
  return e f
})";
  EXPECT_EQ(passes::schedule(parse_graph(text)).text(), parse_graph(text).text());
}

TEST(Schedule, WaitsForValuesThatAreReadTwice) {
  const Graph g = passes::schedule(parse_graph(R"(graph(a: f32[100]) {
  b: f32[100] = exp a
  c: f32[100] = sin a
  d: f32[100] = mul b b
  e: f32[] = reduce_sum[axes=[0]] d
  f: f32[] = reduce_sum[axes=[0]] c
  return e f
})"));
  check(g);
  EXPECT_EQ(g.equations.size(), 5u);
}

}  // namespace schedule_test
}  // namespace spruce
