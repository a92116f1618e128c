// SPDX-License-Identifier: Apache-2.0
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace simplify_scans_test {

std::string scan(const std::string& parts, const std::string& body) {
  return " = scan[length=4 " + parts + " reverse=false unroll=1 checkpoint=false body=graph" +
         body + "}] ";
}

TEST(ScanTidy, ResultsThatNobodyNeedsGo) {
  expect_cases(
      passes::simplify_scans,
      {{"a: f32[], b: f32[4]",
        "c: f32[], d: f32[], e: f32[4], f: f32[4]" +
            scan("consts=0 carry=2",
                 "(a: f32[], b: f32[], c: f32[]) {\nd: f32[] = add a c\ne: f32[] = "
                 "mul b d\nf: f32[] = sin d\nreturn d e d f\n") +
            "a a b\nreturn e",
        "c: f32[], d: f32[4]" +
            scan("consts=0 carry=1", "(a: f32[], b: f32[]) {\nc: f32[] = add a b\nreturn c c\n") +
            "a b\nreturn d"}});
}

TEST(ScanTidy, CarriesThatNeverChangeAreConstants) {
  expect_cases(
      passes::simplify_scans,
      {{"a: f32[], b: f32[]",
        "c: f32[], d: f32[]" +
            scan("consts=0 carry=2", "(a: f32[], b: f32[]) {\nc: f32[] = add a b\nreturn c b\n") +
            "a b\ne: f32[] = add c d\nreturn e",
        "c: f32[]" +
            scan("consts=1 carry=1", "(b: f32[], a: f32[]) {\nc: f32[] = add a b\nreturn c\n") +
            "b a\nd: f32[] = add c b\nreturn d"}});
}

TEST(ScanTidy, WhatIsHandedOverTwiceIsHandedOverOnce) {
  expect_cases(passes::simplify_scans,
               {{"a: f32[], b: f32[4]",
                 "c: f32[], d: f32[4]" +
                     scan("consts=2 carry=1",
                          "(a: f32[], b: f32[], c: f32[], d: f32[], e: f32[]) {\nf: f32[] = mul "
                          "a d\ng: f32[] = mul b e\nh: f32[] = add f g\ni: f32[] = add c "
                          "h\nreturn i d\n") +
                     "a a a b b\nreturn c d",
                 "c: f32[]" +
                     scan("consts=1 carry=1",
                          "(a: f32[], b: f32[], c: f32[]) {\nd: f32[] = mul a c\ne: f32[] = "
                          "mul a c\nf: f32[] = add d e\ng: f32[] = add b f\nreturn g\n") +
                     "a a b\nreturn c b"}});
}

TEST(ScanTidy, ALoopWithoutResultsGoes) {
  expect_cases(
      passes::simplify_scans,
      {{"a: f32[], b: f32[4]",
        "c: f32[], d: f32[4]" + scan("consts=0 carry=1", "(a: f32[], b: f32[]) {\nreturn a b\n") +
            "a b\nreturn c d",
        "return a b"}});
}

}  // namespace simplify_scans_test
}  // namespace spruce
