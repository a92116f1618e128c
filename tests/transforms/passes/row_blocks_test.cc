// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/fusion/row_blocks.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "spruce/core/ops/ops.h"
#include "spruce/core/parallel.h"
#include "spruce/core/random/random.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/passes/pipeline.h"
#include "spruce/transforms/rules/control_primitives.h"
#include "spruce/transforms/transforms.h"
#include "tests/transforms/as_compiled.h"
#include "tests/transforms/passes/pass_text.h"
#include "tests/transforms/properties.h"
#include "tests/transforms/row_halves.h"

namespace spruce {
namespace row_blocks_test {

const std::string kDot = "dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]]";

void expect_halves(const std::string& inputs, const std::string& before, const std::string& want) {
  EXPECT_EQ(after([](Graph g) { return row_halves(g, 2); }, inputs, before), want);
}

TEST(RowBlocks, AProductAndWhatFollowsItRunOnHalvesOfTheRows) {
  expect_halves(
      "a: f64[8,3], b: f64[3,4], c: f64[4]",
      R"(d: f64[8,4] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
e: f64[8,4] = add d c
return e)",
      R"(d: f64[2,4,3] = reshape[shape=[2,4,3]] a
e: f64[2,4,4] = scan[length=2 consts=2 carry=0 reverse=false unroll=1 checkpoint=false body=graph(b: f64[3,4], d: f64[4], a: f64[4,3]) {
c: f64[4,4] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
e: f64[4,4] = add c d
return e
}] b c d
f: f64[8,4] = reshape[shape=[8,4]] e
return f)");
}

TEST(RowBlocks, WhatOthersReadLeavesAndSumsOverRowsStayOutside) {
  expect_halves(
      "a: f64[8,3], b: f64[3,4], c: f64[8,4]",
      R"(d: f64[8,4] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
e: f64[8,4] = add c d
f: f64[8,4] = tanh e
g: f64[8] = reduce_sum[axes=[1]] f
h: f64[4] = reduce_sum[axes=[0]] f
return h g e)",
      R"(d: f64[2,4,3] = reshape[shape=[2,4,3]] a
e: f64[2,4,4] = reshape[shape=[2,4,4]] c
f: f64[2,4,4], g: f64[2,4,4], h: f64[2,4] = scan[length=2 consts=1 carry=0 reverse=false unroll=1 checkpoint=false body=graph(b: f64[3,4], a: f64[4,3], d: f64[4,4]) {
c: f64[4,4] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
e: f64[4,4] = add d c
f: f64[4,4] = tanh e
g: f64[4] = reduce_sum[axes=[1]] f
return e f g
}] b d e
i: f64[8,4] = reshape[shape=[8,4]] f
j: f64[8,4] = reshape[shape=[8,4]] g
k: f64[8] = reshape[shape=[8]] h
l: f64[4] = reduce_sum[axes=[0]] j
return l k i)");
}

TEST(RowBlocks, AnArrayMayBeReadByRowsAndWhole) {
  expect_halves(
      "a: f64[8,8], b: f64[8,8]",
      R"(c: f64[8,8] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
d: f64[8,8] = mul c b
return d)",
      R"(c: f64[2,4,8] = reshape[shape=[2,4,8]] a
d: f64[2,4,8] = reshape[shape=[2,4,8]] b
e: f64[2,4,8] = scan[length=2 consts=1 carry=0 reverse=false unroll=1 checkpoint=false body=graph(b: f64[8,8], a: f64[4,8], d: f64[4,8]) {
c: f64[4,8] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] a b
e: f64[4,8] = mul c d
return e
}] b c d
f: f64[8,8] = reshape[shape=[8,8]] e
return f)");
}

TEST(RowBlocks, WhatIsNeededWholeIsComplete) {
  expect_halves("a: f64[8,8]",
                R"(b: f64[8,8] = tanh a
c: f64[8,8] = exp b
d: f64[8,8] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] c b
return d)",
                R"(b: f64[2,4,8] = reshape[shape=[2,4,8]] a
c: f64[2,4,8], d: f64[2,4,8] = scan[length=2 consts=0 carry=0 reverse=false unroll=1 checkpoint=false body=graph(a: f64[4,8]) {
b: f64[4,8] = tanh a
c: f64[4,8] = exp b
return b c
}] b
e: f64[8,8] = reshape[shape=[8,8]] c
f: f64[8,8] = reshape[shape=[8,8]] d
g: f64[8,8] = dot_general[lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]] f e
return g)");
}

TEST(RowBlocks, APathOutAndBackEndsAGroup) {
  expect_halves("a: f64[8,8]",
                R"(b: f64[8,8] = tanh a
c: f64[8,8] = exp b
d: f64[8,8] = cumsum[axis=0 reverse=false] c
e: f64[8,8] = add c d
f: f64[8,8] = mul e d
return f)",
                R"(b: f64[2,4,8] = reshape[shape=[2,4,8]] a
c: f64[2,4,8] = scan[length=2 consts=0 carry=0 reverse=false unroll=1 checkpoint=false body=graph(a: f64[4,8]) {
b: f64[4,8] = tanh a
c: f64[4,8] = exp b
return c
}] b
d: f64[8,8] = reshape[shape=[8,8]] c
e: f64[8,8] = cumsum[axis=0 reverse=false] d
f: f64[2,4,8] = reshape[shape=[2,4,8]] d
g: f64[2,4,8] = reshape[shape=[2,4,8]] e
h: f64[2,4,8] = scan[length=2 consts=0 carry=0 reverse=false unroll=1 checkpoint=false body=graph(a: f64[4,8], b: f64[4,8]) {
c: f64[4,8] = add a b
d: f64[4,8] = mul c b
return d
}] f g
i: f64[8,8] = reshape[shape=[8,8]] h
return i)");
}

TEST(RowBlocks, BodiesOfFusedEquationsShrink) {
  expect_halves("a: f64[8,4], b: f64[4]",
                R"(c: f64[8,4] = fused[unrolled=false body=graph(a: f64[8,4], b: f64[4]) {
    l: f64[] = constant {0.5}
    c: f64[4] = exp b
    d: f64[8,4] = broadcast_in_dim[shape=[8,4] broadcast_dimensions=[1]] c
    e: f64[8,4] = add a d
    i: f64[8,4] = iota[shape=[8,4] dtype=f64 axis=1]
    f: f64[8,4] = mul e i
    g: f64[8] = reduce_sum[axes=[1]] f
    h: f64[8,1] = reshape[shape=[8,1]] g
    k: f64[8,4] = sub f h
    m: f64[8,4] = mul k l
    return m
  }] a b
d: f64[8,4] = softmax c
return d)",
                R"(c: f64[2,4,4] = reshape[shape=[2,4,4]] a
d: f64[2,4,4] = scan[length=2 consts=1 carry=0 reverse=false unroll=1 checkpoint=false body=graph(b: f64[4], a: f64[4,4]) {
c: f64[4,4] = fused[unrolled=false body=graph(a: f64[4,4], b: f64[4]) {
l: f64[] = constant {0.5}
c: f64[4] = exp b
d: f64[4,4] = broadcast_in_dim[shape=[4,4] broadcast_dimensions=[1]] c
e: f64[4,4] = add a d
i: f64[4,4] = iota[shape=[4,4] dtype=f64 axis=1]
f: f64[4,4] = mul e i
g: f64[4] = reduce_sum[axes=[1]] f
h: f64[4,1] = reshape[shape=[4,1]] g
k: f64[4,4] = sub f h
m: f64[4,4] = mul k l
return m
}] a b
d: f64[4,4] = softmax c
return d
}] b c
e: f64[8,4] = reshape[shape=[8,4]] d
return e)");
}

TEST(RowBlocks, ViewsThatNoMemberReadsStayOutside) {
  expect_halves("a: f64[8,4]",
                R"(b: f64[8,4] = softmax a
c: f64[8,4] = log_softmax b
d: f64[32] = reshape[shape=[32]] c
e: f64[8,2,2] = reshape[shape=[8,2,2]] c
return d e)",
                R"(b: f64[2,4,4] = reshape[shape=[2,4,4]] a
c: f64[2,4,4] = scan[length=2 consts=0 carry=0 reverse=false unroll=1 checkpoint=false body=graph(a: f64[4,4]) {
b: f64[4,4] = softmax a
c: f64[4,4] = log_softmax b
return c
}] b
d: f64[8,4] = reshape[shape=[8,4]] c
e: f64[32] = reshape[shape=[32]] d
f: f64[8,2,2] = reshape[shape=[8,2,2]] d
return e f)");
}

// === limits ===

// x w, tanh, x w. (The baseline gives large products in f32 to oneDNN, which are not cut.)
std::string layers(int64_t rows, int64_t width, const std::string& dtype = "f64") {
  const std::string n = std::to_string(rows), w = std::to_string(width),
                    type = dtype + "[" + n + "," + w + "]";
  return "graph(a: " + type + ", b: " + dtype + "[" + w + "," + w + "]) {\n  c: " + type + " = " +
         kDot + " a b\n  d: " + type + " = tanh c\n  e: " + type + " = " + kDot +
         " d b\n  return e\n}";
}

bool changes(const std::string& text) {
  const Graph graph = parse_graph(text);
  return passes::row_blocks(graph).text() != graph.text();
}

TEST(RowBlocks, LargeArraysOfNarrowLayersPay) { EXPECT_TRUE(changes(layers(65536, 64))); }
TEST(RowBlocks, ArraysThatStayInTheCacheDoNot) { EXPECT_FALSE(changes(layers(1024, 64))); }
TEST(RowBlocks, WideProductsDoNot) { EXPECT_FALSE(changes(layers(4096, 1024))); }
TEST(RowBlocks, NumbersOfRowsWithoutFactorsDoNot) { EXPECT_FALSE(changes(layers(65537, 64))); }
TEST(RowBlocks, ALoneEquationDoesNot) {
  EXPECT_FALSE(changes("graph(a: f32[65536,64]) {\n  b: f32[65536,64] = softmax a\n  return b\n}"));
}

// === bits ===

std::vector<Array> normals_like(const Graph& graph) {
  std::vector<Array> out;
  for (const ValueId v : graph.inputs) {
    const Aval& a = graph.avals[static_cast<size_t>(v)];
    out.push_back(random::normal(Key(v), a.shape, {.dtype = a.dtype}));
  }
  return out;
}

void expect_same_bits(const Graph& graph, const Graph& blocks, const std::vector<Array>& args,
                      const std::string& what) {
  check(blocks);
  properties::expect_same(as_compiled(blocks, args), as_compiled(graph, args),
                          what + "\n" + blocks.text());
}

TEST(RowBlocks, LayersHaveTheSameBits) {
  for (const auto& [rows, width] :
       {std::pair<int64_t, int64_t>{65536, 64}, {20000, 48}, {9000, 130}}) {
    for (const std::string dtype : {"f32", "f64"}) {
      const Graph graph = parse_graph(layers(rows, width, dtype)),
                  blocks = passes::row_blocks(graph, {.again = 0, .escaping = 0});
      EXPECT_TRUE(dtype == "f32" || blocks.text() != graph.text());
      expect_same_bits(graph, blocks, normals_like(graph), std::to_string(rows) + dtype);
    }
  }
}

// Of sizes on both sides of every limit at which products take another form.
TEST(RowBlocks, ProductsHaveTheSameBits) {
  std::mt19937 random(3);
  const auto size = [&](int64_t most) {
    const auto bits = static_cast<int>(random() % static_cast<uint32_t>(std::log2(most)));
    return std::min(most, (int64_t{1} << bits) + static_cast<int64_t>(random() % (1u << bits)));
  };
  int cut = 0;
  for (int trial = 0; trial < 150; ++trial) {
    // With a column, more rows than what runs element by element has.
    const bool column = trial % 7 == 0;
    const int64_t m = 2 * (size(2048) + (column ? 8192 : 0)), n = column ? 1 : 1 + size(1000),
                  k = size(column ? 300 : 1500);
    const bool turned = trial % 2 == 1, shared = trial % 5 == 0;
    const std::string dtype = trial % 3 == 0 ? "f64" : "f32";
    const auto type = [&](std::vector<int64_t> s) {
      if (shared) s.insert(s.begin(), 4);
      return dtype + to_string(Shape(s));
    };
    const std::string axis = shared ? "2" : "1", batch = shared ? "[0]" : "[]",
                      other = turned   ? axis
                              : shared ? "1"
                                       : "0";
    const Graph graph = parse_graph(
        "graph(a: " + type({m, k}) + ", b: " + (turned ? type({n, k}) : type({k, n})) +
        ") {\n  c: " + type({m, n}) + " = dot_general[lhs_contract=[" + axis + "] rhs_contract=[" +
        other + "] lhs_batch=" + batch + " rhs_batch=" + batch + "] a b\n  return c\n}");
    const Graph blocks = row_halves(graph, 1);
    cut += blocks.text() != graph.text();
    expect_same_bits(graph, blocks, normals_like(graph), "products");
  }
  EXPECT_GT(cut, 50);
}

// By oneDNN's kernels, and of few features in lanes.
TEST(RowBlocks, ConvolutionsAndTheirGradientsHaveTheSameBits) {
  for (const auto& [samples, features] : {std::pair<int64_t, int64_t>{32, 32}, {64, 6}}) {
    const Array x = random::normal(Key(1), {samples, 3, 26, 26}),
                first = random::normal(Key(2), {features, 3, 3, 3}),
                second = random::normal(Key(3), {features, features, 3, 3});
    const auto f = [](const Array& u, const Array& v, const Array& w) {
      return nn::conv2d(nn::max_pool2d(nn::relu(nn::conv2d(u, v)), 2), w, {}, {.padding = 1});
    };
    const auto gradient = [&](const Array& u, const Array& v, const Array& w) {
      return grad([&](const Array& y) { return sum(square(f(y, v, w))); })(u);
    };
    const std::vector<Array> args = {x, first, second};
    for (const Graph& graph : {passes::optimize(make_graph(f)(x, first, second)),
                               passes::optimize(make_graph(gradient)(x, first, second))}) {
      const Graph blocks = row_halves(graph, 2);
      const auto loops =
          std::count_if(blocks.equations.begin(), blocks.equations.end(), [](const Equation& e) {
            return e.primitive == &scan_p && e.params.get<ScanParams>().body->text().find(
                                                 "conv_general") != std::string::npos;
          });
      EXPECT_GT(loops, 0) << blocks.text();
      expect_same_bits(graph, blocks, args, std::to_string(features) + " features");
    }
  }
}

TEST(RowBlocks, ThreadsThatShareTheBlocksChangeNothing) {
  const Graph graph =
      passes::row_blocks(parse_graph(layers(20000, 48)), {.again = 0, .escaping = 0});
  const std::vector<Array> args = normals_like(graph);
  const int before = threads();
  set_threads(1);
  const std::vector<Array> one = as_compiled(graph, args);
  set_threads(3);
  properties::expect_same(as_compiled(graph, args), one, "three threads");
  set_threads(before);
}

// The rows of 64 edges' nodes, weighted and added to other nodes, and what is gathered for sums.
TEST(RowBlocks, GatheredRowsAndWhatTheyEndInRunInBlocks) {
  const Array x = random::normal(Key(1), {20, 8}), w = random::normal(Key(2), {64}),
              from = random::randint(Key(3), {64}, 0, 20),
              to = random::randint(Key(4), {64}, 0, 20),
              ids = random::randint(Key(5), {64, 3}, 0, 20);
  const auto along_edges = [](const Array& v, const Array& a, const Array& i, const Array& j) {
    return zeros(v.shape(), v.dtype()).at(j).add(take(v, i, 0) * expand_dims(a, 1));
  };
  const auto largest = [](const Array& v, const Array& a, const Array& i, const Array& j) {
    return v.at(j).max(take(v, i, 0) * expand_dims(a, 1));
  };
  const auto last = [](const Array& v, const Array& a, const Array& i, const Array& j) {
    return zeros(v.shape()).at(j).set(take(v, i, 0) * expand_dims(a, 1));
  };
  const auto gradient = [&](const Array& v, const Array& a, const Array& i, const Array& j) {
    return grad([&](const Array& y) { return sum(tanh(along_edges(y, a, i, j))); })(v);
  };
  const auto expect_loop = [](const Graph& graph, const std::vector<Array>& args, int64_t carry) {
    const Graph blocks = row_halves(graph, 2);
    const auto loop = std::find_if(blocks.equations.begin(), blocks.equations.end(),
                                   [](const Equation& e) { return e.primitive == &scan_p; });
    ASSERT_NE(loop, blocks.equations.end()) << blocks.text();
    EXPECT_EQ(loop->params.get<ScanParams>().carry, carry) << blocks.text();
    expect_same_bits(graph, blocks, args, "gathered");
  };
  expect_loop(passes::optimize(make_graph(along_edges)(x, w, from, to)), {x, w, from, to}, 1);
  expect_loop(passes::optimize(make_graph(last)(x, w, from, to)), {x, w, from, to}, 1);
  expect_loop(passes::optimize(make_graph(gradient)(x, w, from, to)), {x, w, from, to}, 1);
  // Indices that are computed, and what they name.
  const auto bag = [](const Array& v, const Array& i) { return sum(tanh(take(v, abs(i), 0)), 1); };
  expect_loop(passes::optimize(make_graph(bag)(x, ids)), {x, ids}, 0);
  // Rows that are read where they change, and sums of halves, are left alone.
  const auto stays = [](const Graph& graph) {
    const Graph blocks = row_halves(graph, 2);
    return std::none_of(blocks.equations.begin(), blocks.equations.end(), [](const Equation& e) {
      return e.primitive == &scan_p && e.params.get<ScanParams>().carry > 0;
    });
  };
  EXPECT_TRUE(stays(passes::optimize(make_graph(largest)(x, w, from, to))));
  const Array x16 = astype(x, bfloat16), w16 = astype(w, bfloat16);
  EXPECT_TRUE(stays(passes::optimize(make_graph(along_edges)(x16, w16, from, to))));
}

// Compiled, what is added to stands in the memory that came in.
TEST(RowBlocks, AScatterAtTheEndOfBlocksTakesTheMemoryOfItsOperand) {
  const Array x = random::normal(Key(1), {3000, 64}), i = random::randint(Key(2), {40000}, 0, 3000),
              j = random::randint(Key(3), {40000}, 0, 3000);
  const auto f = [](const Array& v, const Array& from, const Array& to) {
    return zeros(v.shape()).at(to).add(take(v, from, 0));
  };
  const auto run = jit(f);
  const Array got = run(x, i, j);
  properties::expect_same({got}, {f(x, i, j)}, "compiled");
  EXPECT_LT(run.lower(x, i, j).memory().temporaries, 3 << 20);  // the gathered rows are 10 MB
}

class RowsOfPrimitives : public properties::PerPrimitive {};

constexpr int64_t kElements = 50000;  // too many for what runs element by element

// All inputs of many applications side by side, then one of them.
TEST_P(RowsOfPrimitives, HaveTheSameBitsInBlocks) {
  using properties::Arrays, properties::Case;
  for (const Dtype dtype : {float32, float64}) {
    for (const Case& c : properties::all_cases(p(), dtype)) {
      const Arrays first = properties::inputs(c, 0);
      int64_t size = 1;
      for (const Array& a : first) size = std::max(size, a.size());
      for (size_t mapped = 0; mapped <= first.size() && !first.empty(); ++mapped) {
        properties::run_case(c, [&] {
          Arrays args = first;
          for (size_t i = 0; i < args.size(); ++i) {
            if (mapped != i && mapped != first.size()) continue;
            Arrays draws;
            for (int draw = 0; draw < 8; ++draw) draws.push_back(properties::inputs(c, draw)[i]);
            args[i] =
                concatenate(Arrays(static_cast<size_t>(kElements / 8 / size + 1), stack(draws)), 0);
          }
          const auto f = [&](const Arrays& x) {
            if (mapped == first.size())
              return vmap([&](const Arrays& y) { return properties::outputs(c, y); })(x);
            return vmap([&](const Array& one) {
              Arrays all = x;
              all[mapped] = one;
              return properties::outputs(c, all);
            })(x[mapped]);
          };
          const Graph graph = passes::optimize(make_graph(f)(args));
          expect_same_bits(graph, row_halves(graph, 1), args, "halves");
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, RowsOfPrimitives,
                         testing::ValuesIn(properties::primitives_with_samples()),
                         properties::name_of);

}  // namespace row_blocks_test
}  // namespace spruce
