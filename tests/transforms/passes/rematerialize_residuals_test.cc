// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace rematerialize_residuals_test {

std::string scan(const std::string& parts, const std::string& body, bool reverse = false) {
  return " = scan[length=4 " + parts + " reverse=" + (reverse ? "true" : "false") +
         " unroll=1 checkpoint=false body=graph" + body + "}] ";
}

// A loop that multiplies a carry by slices of its first array and adds those of its second.
std::string backward(const std::string& body = "d: f32[] = mul a b\ne: f32[] = add d c\nreturn e") {
  return scan("consts=0 carry=1", "(a: f32[], b: f32[], c: f32[]) {\n" + body + "\n", true);
}

TEST(ScanResiduals, CheapFunctionsOfOthersAreMadeAgain) {
  expect_cases(
      passes::rematerialize_residuals,
      {{"a: f32[], b: f32[4]",
        "c: f32[4], d: f32[4]" +
            scan("consts=0 carry=0",
                 "(b: f32[]) {\na: f32[] = constant {1}\nc: f32[] = tanh b\nd: f32[] = mul c "
                 "c\ne: f32[] = sub a d\nreturn c e\n") +
            "b\ne: f32[]" + backward() + "a c d\nreturn e",
        "c: f32[4]" + scan("consts=0 carry=0", "(a: f32[]) {\nb: f32[] = tanh a\nreturn b\n") +
            "b\nd: f32[]" +
            scan("consts=0 carry=1",
                 "(a: f32[], b: f32[]) {\ne: f32[] = constant {1}\nf: f32[] = mul b b\ng: f32[] = "
                 "sub e f\nc: f32[] = mul a b\nd: f32[] = add c g\nreturn d\n",
                 true) +
            "a c\nreturn d"}});
}

TEST(ScanResiduals, SlicesAndConstantsOfTheLoopServeToo) {
  expect_cases(
      passes::rematerialize_residuals,
      {{"a: f32[], b: f32[4]",
        "c: f32[4]" +
            scan("consts=1 carry=0", "(a: f32[], b: f32[]) {\nc: f32[] = mul a b\nreturn c\n") +
            "a b\nd: f32[]" + backward() + "a c b\nreturn d",
        "c: f32[]" +
            scan("consts=1 carry=1",
                 "(e: f32[], a: f32[], b: f32[]) {\nf: f32[] = mul e b\nc: f32[] = mul a "
                 "f\nd: f32[] = add c b\nreturn d\n",
                 true) +
            "a a b\nreturn c"}});
}

// Costly, read by others, or made from more than it takes itself.
TEST(ScanResiduals, OthersStay) {
  const std::string tail = "\nd: f32[]" + backward() + "a c b\nreturn d";
  const auto stays = [](const std::string& inputs, const std::string& body) {
    EXPECT_EQ(after(passes::rematerialize_residuals, inputs, body),
              after(passes::dead_code, inputs, body));
  };
  stays("a: f32[], b: f32[4]",
        "c: f32[4]" + scan("consts=0 carry=0", "(a: f32[]) {\nb: f32[] = exp a\nreturn b\n") + "b" +
            tail);
  const std::string square =
      "c: f32[4]" + scan("consts=0 carry=0", "(a: f32[]) {\nb: f32[] = mul a a\nreturn b\n") + "b";
  stays("a: f32[], b: f32[4]", square + "\nd: f32[]" + backward() + "a c b\nreturn d c");
  stays("a: f32[], b: f32[4]",
        square + "\ne: f32[4] = sin c\nd: f32[]" + backward() + "a c b\nreturn d e");
  stays("a: f32[], b: f32[4], x: f32[4], y: f32[4]",
        "c: f32[4]" +
            scan("consts=0 carry=0", "(a: f32[], b: f32[]) {\nc: f32[] = mul a b\nreturn c\n") +
            "x y" + tail);
}

TEST(ScanResiduals, ACarryBeforeTheStepIsTheOneAfterTheStepBefore) {
  for (const bool reverse : {false, true}) {
    const std::string low = reverse ? "-1" : "1", high = reverse ? "1" : "-1";
    expect_cases(
        passes::rematerialize_residuals,
        {{"a: f32[2], b: f32[4,2]",
          "c: f32[2], d: f32[4,2], e: f32[4,2]" +
              scan("consts=0 carry=1",
                   "(a: f32[2], b: f32[2]) {\nc: f32[2] = mul a b\nreturn c a c\n", reverse) +
              "a b\nf: f32[4,2] = mul b d\nreturn f e",
          std::string("c: f32[] = constant {0}\nd: i32[] = constant {") + (reverse ? "3" : "0") +
              "}\ne: i32[] = constant {0}\nf: f32[2], g: f32[4,2]" +
              scan("consts=0 carry=1",
                   "(a: f32[2], b: f32[2]) {\nc: f32[2] = mul a b\nreturn c c\n", reverse) +
              "a b\nh: f32[4,2] = pad[low=[" + low + ",0] high=[" + high +
              ",0] interior=[0,0]] g c\ni: f32[1,2] = reshape[shape=[1,2]] a\nj: f32[4,2] = "
              "dynamic_update_slice h i d e\nk: f32[4,2] = mul b j\nreturn k g"}});
  }
}

// The carry keeps h alone; 1 - h * h and the state before the step follow from it.
TEST(ScanResiduals, ARecurrentNetKeepsOneArrayOfStates) {
  const int64_t steps = 50, n = 40;
  const auto loss = [&](const Array& w, const Array& xs) {
    const auto step = [&](const Array& h, const Array& x) {
      const Array next = tanh(matmul(h, w) + x);
      return std::pair{next, next};
    };
    return sum(scan(step, zeros({8, n}), xs).second);
  };
  const Array w = full({n, n}, 0.02f), xs = full({steps, 8, n}, 0.5f);
  const auto f = jit([&](const Array& a, const Array& b) { return grad(loss)(a, b); });
  const Graph compiled = f.lower(w, xs).compiled_graph();
  const auto forward = std::find_if(compiled.equations.begin(), compiled.equations.end(),
                                    [](const Equation& e) { return e.primitive == &scan_p; });
  ASSERT_NE(forward, compiled.equations.end());
  EXPECT_EQ(forward->outputs.size(), 2u) << compiled;
  const Array want = grad(loss)(w, xs), got = f(w, xs);
  EXPECT_LT(max(abs(got - want)).item<float>(), 1e-4f * max(abs(want)).item<float>());
}

}  // namespace rematerialize_residuals_test
}  // namespace spruce
