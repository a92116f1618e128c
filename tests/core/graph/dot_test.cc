// SPDX-License-Identifier: Apache-2.0
// Pictures of graphs.
#include "spruce/core/graph/dot.h"

#include <gmock/gmock.h>

#include "spruce/core/graph/print.h"
#include "tests/core/graph/golden.h"

namespace spruce {
namespace graph_dot_test {

using testing::HasSubstr;
using testing::Not;

Graph simple() {
  Graph g = parse_graph(R"(graph(a: f32[3]) {
  d: f32*[] = constant {2}
  b: f32[3] = mul a d
  c: f32[] = reduce_sum[axes=[0]] b
  return c b
})");
  g.equations[0].place = "train.cc:42";
  return g;
}

Graph nested() {
  return parse_graph(R"(graph(a: f32[3]) {
  b: f32[3] = custom_call[name="f<&\"\\" body=graph(a: f32[3]) {
    b: f32[3] = sin a
    return b
  } function=none] a
  c: f32[3] = mul b a
  return c
})");
}

TEST(Dot, IsGraphvizText) {
  EXPECT_EQ(to_dot(simple()), R"(digraph {
  node [fontname="monospace"];
  edge [fontname="monospace"];
  "a" [label="a: f32[3]", shape=ellipse];
  "d" [label="{2}\nf32*[]", shape=ellipse, style=dashed];
  "e0" [label="mul", shape=box, tooltip="b: f32[3] = mul a d\nat train.cc:42"];
  "a" -> "e0" [label="f32[3]"];
  "d" -> "e0" [label="f32*[]"];
  "e1" [label="reduce_sum", shape=box, tooltip="c: f32[] = reduce_sum[axes=[0]] b"];
  "e0" -> "e1" [label="f32[3]"];
  "out0" [label="output 0", shape=ellipse];
  "e1" -> "out0" [label="f32[]"];
  "out1" [label="output 1", shape=ellipse];
  "e0" -> "out1" [label="f32[3]"];
}
)");
}

TEST(Dot, NestedGraphsAreClusters) {
  const std::string dot = to_dot(nested());
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster_e0_0_\" {\n    label=\"custom_call 0\";\n"));
  EXPECT_THAT(dot, HasSubstr("    \"e0_0_e0\" [label=\"sin\", shape=box"));
  EXPECT_THAT(dot, HasSubstr("  \"e0\" -> \"e0_0_a\" [style=dotted];\n"));
}

TEST(Html, IsAsInTheFile) {
  EXPECT_EQ(to_html(simple(), "simple"),
            golden("core/graph/simple.html", to_html(simple(), "simple")));
  EXPECT_EQ(to_html(nested(), "a graph in a graph"),
            golden("core/graph/nested.html", to_html(nested(), "a graph in a graph")));
}

TEST(Html, NeedsNothingElseAndEscapesText) {
  const std::string page = to_html(nested(), "<title>");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("<h1>&lt;title&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("name=&quot;f&lt;&amp;"));
  EXPECT_THAT(page, HasSubstr("class=\"body\""));
}

TEST(Html, ALongGraphIsDrawnQuickly) {
  Graph g;
  const Aval type{Dtype::kFloat32, false, {2}};
  g.inputs = {g.add_value(type)};
  ValueId last = g.inputs[0];
  for (int i = 0; i < 20000; ++i) {
    const ValueId next = g.add_value(type);
    g.equations.push_back({find_primitive("sin"), {}, {last}, {next}, ""});
    last = next;
  }
  g.outputs = {last};
  EXPECT_THAT(to_html(g), HasSubstr("20000 equations"));
  EXPECT_THAT(to_dot(g), HasSubstr("\"e19999\" -> \"out0\""));
}

TEST(Dot, TheEmptyGraphHasPictures) {
  EXPECT_EQ(to_dot(Graph()),
            "digraph {\n  node [fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n}\n");
  EXPECT_THAT(to_html(Graph()), HasSubstr("0 equations"));
}

}  // namespace graph_dot_test
}  // namespace spruce
