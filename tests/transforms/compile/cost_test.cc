// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/cost.h"

#include <gtest/gtest.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace cost_test {

Cost cost(const char* text) { return analyze_cost(parse_graph(text)).total; }

void expect_cost(const Cost& c, double flops, double read, double written) {
  EXPECT_EQ(c.flops, flops);
  EXPECT_EQ(c.bytes_read, read);
  EXPECT_EQ(c.bytes_written, written);
}

TEST(Cost, OfEachKindOfEquation) {
  // A product of matrices takes 2 m n k.
  expect_cost(cost("graph(a: f32[4,5], b: f32[5,6]) {\n  c: f32[4,6] = "
                   "dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b\n"
                   "  return c\n}"),
              2 * 4 * 5 * 6, 4 * (20 + 30), 4 * 24);
  // A square reads its input once.
  expect_cost(cost("graph(a: f64[8]) {\n  b: f64[8] = mul a a\n  return b\n}"), 8, 64, 64);
  // A reduction takes one for each element of its input.
  expect_cost(cost("graph(a: f32[8,4]) {\n  b: f32[4] = reduce_sum[axes=[0]] a\n  return b\n}"), 32,
              128, 16);
  // A view moves nothing.
  expect_cost(cost("graph(a: f32[8,4]) {\n  b: f32[32] = reshape[shape=[32]] a\n  return b\n}"), 0,
              0, 0);
  // A transpose moves and computes nothing.
  expect_cost(cost("graph(a: f32[8,4]) {\n  b: f32[4,8] = transpose[perm=[1,0]] a\n  return "
                   "b\n}"),
              0, 128, 128);
  // A slice reads what it takes.
  expect_cost(cost("graph(a: f32[8]) {\n  b: f32[2] = slice[start=[1] limit=[3] stride=[1]] a\n  "
                   "return b\n}"),
              0, 8, 8);
}

TEST(Cost, OfAConvolution) {
  const Graph g = make_graph([](const Array& x, const Array& w) {
    return conv_general(x, w, {.strides = {1, 1}, .feature_group_count = 2});
  })(zeros({2, 4, 8, 8}), zeros({6, 2, 3, 3}));
  // Each of 2*6*6*6 results takes 2*3*3 products.
  EXPECT_EQ(analyze_cost(g).total.flops, 2.0 * (2 * 6 * 6 * 6) * (2 * 3 * 3));
}

// The pairs of places and of elements of the window that meet an element of the input, one by one.
int64_t taps(int64_t size, int64_t window, const ConvParams& p, int64_t places) {
  int64_t count = 0;
  for (int64_t i = 0; i < places; ++i) {
    for (int64_t k = 0; k < window; ++k) {
      const int64_t at = i * p.strides[0] + k * p.rhs_dilation[0] - p.padding_low[0];
      count += at >= 0 && at % p.lhs_dilation[0] == 0 && at / p.lhs_dilation[0] < size;
    }
  }
  return count;
}

TEST(Cost, ConvolutionsPayForElementsOnly) {
  for (int64_t stride : {1, 2, 3}) {
    for (int64_t low : {-2, 0, 1, 5}) {
      for (int64_t high : {-1, 0, 4}) {
        for (int64_t dilation : {1, 2, 3, 4}) {
          for (int64_t apart : {1, 2}) {
            const ConvParams p{{stride}, {low}, {high}, {dilation}, {apart}};
            const Graph g = make_graph([&](const Array& x, const Array& w) {
              return conv_general(x, w, p);
            })(zeros({2, 3, 9}), zeros({5, 3, 4}));
            const int64_t places = g.avals[static_cast<size_t>(g.outputs[0])].shape[2];
            EXPECT_NEAR(analyze_cost(g).total.flops,
                        static_cast<double>(2 * 2 * 5 * 3 * taps(9, 4, p, places)), 1e-6)
                << "stride " << stride << " low " << low << " high " << high << " dilation "
                << dilation << " apart " << apart;
          }
        }
      }
    }
  }
}

TEST(Cost, CallsCostWhatTheirBodiesCost) {
  expect_cost(cost(R"(graph(a: f32[3]) {
  b: f32[3] = custom_call[name="f" body=graph(a: f32[3]) {
    b: f32[3] = sin a
    c: f32[3] = mul b a
    return c
  } function=none] a
  return b
})"),
              6, 36, 24);
}

TEST(Cost, LoopsCountAsOftenAsTheyRun) {
  const auto body = [](const Array& c, const Array& x) { return std::pair{c * x, c}; };
  const Graph loop =
      make_graph([&](const Array& xs) { return scan(body, zeros({3}), xs); })(zeros({50, 3}));
  EXPECT_EQ(analyze_cost(loop).total.flops, 50 * 3);
  const Graph choice = make_graph([](const Array& p, const Array& x) {
    return cond(
        p, [](const Array& y) { return sin(y) * y; }, [](const Array& y) { return y; }, x);
  })(array(true), zeros({8}));
  EXPECT_GE(analyze_cost(choice).total.flops, 16);
  EXPECT_LE(analyze_cost(choice).total.flops, 20) << "the dearest branch, and the choice";
}

TEST(Cost, OfEverySampleIsSensible) {
  for (const Primitive* p : all_primitives()) {
    if (p->samples == nullptr) continue;
    for (const Sample& s : p->samples()) {
      Graph g;
      Equation e{p, s.params, {}, {}, ""};
      std::vector<const Aval*> types;
      for (const SampleInput& in : s.in) types.push_back(&in.aval);
      const std::vector<Aval> out = output_avals(*p, types, s.params);
      for (const SampleInput& in : s.in) {
        g.inputs.push_back(g.add_value(in.aval));
        e.inputs.push_back(g.inputs.back());
      }
      for (const Aval& a : out) {
        g.outputs.push_back(g.add_value(a));
        e.outputs.push_back(g.outputs.back());
      }
      g.equations.push_back(e);
      const Cost c = analyze_cost(g).total;
      EXPECT_GE(c.flops, 0) << p->name;
      EXPECT_LT(c.flops, 1e6) << p->name;
      EXPECT_GE(c.bytes_read, 0) << p->name;
    }
  }
}

TEST(Cost, HasATable) {
  const CostAnalysis a =
      analyze_cost(parse_graph(R"(graph(a: f32[64,784], b: f32[784,10], c: f32[10]) {
  d: f32[64,10] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
  e: f32[64,10] = broadcast_in_dim[shape=[64,10] broadcast_dimensions=[1]] c
  f: f32[64,10] = add d e
  g: f32[64,10] = tanh f
  return g
})"));
  EXPECT_EQ(a.text(), R"(    flops      read   written
       1M      232k     2.56k  d: f32[64,10] = dot_general a b
      640     5.12k     2.56k  f: f32[64,10] = add d e
      640     2.56k     2.56k  g: f32[64,10] = tanh f
        0        40     2.56k  e: f32[64,10] = broadcast_in_dim c
       1M      240k     10.2k  in all
)");
  EXPECT_EQ(a.text(1), R"(    flops      read   written
       1M      232k     2.56k  d: f32[64,10] = dot_general a b
    1.28k     7.72k     7.68k  3 others
       1M      240k     10.2k  in all
)");
}

TEST(Cost, RowsNameTheUsersLine) {
  const Graph g = make_graph([](const Array& x) { return sin(x); })(array({1.0f}));
  EXPECT_EQ(analyze_cost(g).rows[0].place, g.equations[0].place);
  EXPECT_NE(analyze_cost(g).text().find("at cost_test.cc:"), std::string::npos);
}

}  // namespace cost_test
}  // namespace spruce
