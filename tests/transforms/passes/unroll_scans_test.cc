// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/ops.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/passes/pass_text.h"

namespace spruce {
namespace unroll_scans_test {

TEST(ScanUnroll, CopiesTheBody) {
  expect_cases(
      passes::unroll_scans,
      {{"a: f32[], b: f32[4]",
        "c: f32[], d: f32[4] = scan[length=4 consts=0 carry=1 reverse=false unroll=2 "
        "checkpoint=false body=graph(a: f32[], b: f32[]) {\nc: f32[] = mul a b\nreturn c c\n}] a "
        "b\nreturn c d",
        "c: f32[2,2] = reshape[shape=[2,2]] b\nd: f32[], e: f32[2,2] = scan[length=2 consts=0 "
        "carry=1 reverse=false unroll=1 checkpoint=false body=graph(a: f32[], b: f32[2]) {\nc: "
        "f32[1] = slice[start=[0] limit=[1] stride=[1]] b\nd: f32[] = reshape[shape=[]] c\ne: "
        "f32[] = mul a d\nf: f32[1] = reshape[shape=[1]] e\ng: f32[1] = slice[start=[1] limit=[2] "
        "stride=[1]] b\nh: f32[] = reshape[shape=[]] g\ni: f32[] = mul e h\nj: f32[1] = "
        "reshape[shape=[1]] i\nk: f32[2] = concatenate[axis=0] f j\nreturn i k\n}] a c\nf: f32[4] "
        "= reshape[shape=[4]] e\nreturn d f"}});
}

// The steps of the compiled loop, 0 if there is none.
int64_t loop_length(const Graph& g) {
  for (const Equation& e : g.equations) {
    if (e.primitive == &scan_p) return e.params.get<ScanParams>().length;
  }
  return 0;
}

// How often a tanh stands in the graph and in those within it.
int64_t copies(const Graph& g) {
  const std::string text = g.text(), what = "= tanh ";
  int64_t n = 0;
  for (size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
  return n;
}

// Seven steps from either end, in turns of 1 to 9: the results, their derivatives, and how often
// the compiled loop goes round.
TEST(ScanUnroll, GivesTheSameResults) {
  const Array w = reshape(linspace(-0.5f, 0.5f, 9), {3, 3}),
              xs = reshape(linspace(-1.0f, 1.0f, 21), {7, 3});
  for (const bool reverse : {false, true}) {
    const auto f = [&](int64_t unroll) {
      return [=](const Array& m, const Array& in) {
        const auto step = [&](const Array& h, const Array& x) {
          const Array next = tanh(matmul(m, h) + x);
          return std::pair{next, next * x};
        };
        const auto [last, ys] = scan(step, ones({3}), in, {.reverse = reverse, .unroll = unroll});
        return concatenate({ys, last.reshape({1, 3})});
      };
    };
    const auto loss = [&](int64_t unroll) {
      return [=](const Array& m, const Array& in) { return sum(sin(f(unroll)(m, in))); };
    };
    const Array want = f(1)(w, xs), slope = grad(loss(1))(w, xs);
    EXPECT_EQ(loop_length(jit(f(1)).lower(w, xs).compiled_graph()), 7);
    for (const int64_t unroll : {2, 3, 4, 7, 9}) {
      const auto compiled = jit(f(unroll));
      EXPECT_TRUE(allclose(compiled(w, xs), want)) << reverse << unroll;
      EXPECT_TRUE(allclose(jit(grad(loss(unroll)))(w, xs), slope)) << reverse << unroll;
      const Graph now = compiled.lower(w, xs).compiled_graph();
      EXPECT_EQ(loop_length(now), unroll < 4 ? 7 / unroll : 0) << unroll;
      EXPECT_EQ(copies(now), unroll < 4 ? unroll + 7 % unroll : 7) << unroll;
    }
  }
}

}  // namespace unroll_scans_test
}  // namespace spruce
