// SPDX-License-Identifier: Apache-2.0
// Graphs as text and back, the checker, and the passes.
#include "spruce/core/graph/graph.h"

#include <gmock/gmock.h>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace graph_test {

using testing::HasSubstr;
const Array kVector = array({1.0f, 2.0f, 3.0f});

TEST(GraphText, IsWhatWasDone) {
  const auto f = [](const Array& x) { return sum(sin(x) * x) + 2.0f; };
  EXPECT_EQ(make_graph(f)(kVector).text(), R"(graph(a: f32[3]) {
  e: f32*[] = constant {2}
  b: f32[3] = sin a
  c: f32[3] = mul b a
  d: f32[] = reduce_sum[axes=[0]] c
  f: f32[] = add d e
  return f
})");
}

TEST(GraphText, OfAGradient) {
  const auto f = [](const Array& x) { return sum(x * x); };
  const Graph g = passes::dead_code(make_graph(grad(f))(kVector));
  check(g);
  EXPECT_TRUE(array_equal(evaluate(g, std::vector<Array>{kVector})[0], 2.0f * kVector));
}

TEST(GraphText, LargeConstantsAreLeftOutUnlessAskedFor) {
  const Array big = arange(20.0f);
  const Graph g = make_graph([&](const Array& x) { return x + big; })(big);
  EXPECT_THAT(g.text(), HasSubstr("constant {...}"));
  EXPECT_THAT(g.text(true),
              HasSubstr("constant {0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19}"));
  EXPECT_THROW((void)parse_graph(g.text()), GraphError);
  EXPECT_EQ(parse_graph(g.text(true)).text(true), g.text(true));
}

TEST(GraphText, ManyInputsOutputsAndTrees) {
  const auto f = [](const std::vector<Array>& x, const Array& y) {
    return std::pair{std::vector<Array>{x[1], x[0]}, y == y};
  };
  const Graph g = make_graph(f)(std::vector<Array>{kVector, array(1)}, array({true, false}));
  EXPECT_EQ(g.text(),
            "graph(a: f32[3], b: i32[], c: bool[2]) {\n  d: bool[2] = eq c c\n  return b a d\n}");
  EXPECT_EQ(parse_graph(g.text()).text(), g.text());
}

TEST(GraphParse, ReadsGraphsWithinGraphs) {
  const Array big = arange(20.0f);
  const auto twice = custom_jvp([&](const Array& x) { return x + big; },
                                [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                  return std::pair{std::get<0>(p), std::get<0>(t)};
                                });
  const Graph g = make_graph([&](const Array& x) { return twice(x) * x; })(big);
  const Graph read = parse_graph(g.text(true));
  check(read);
  // The rule has no text: what was read has none, and is otherwise the same.
  EXPECT_THAT(g.text(true), HasSubstr("function=rule"));
  EXPECT_EQ(parse_graph(read.text(true)).text(true), read.text(true));
  EXPECT_TRUE(array_equal(evaluate(read, std::vector<Array>{big})[0],
                          evaluate(g, std::vector<Array>{big})[0]));
}

TEST(GraphParse, KeepsAllBitsOfConstants) {
  const Array odd = array({0.1, 1e-300, -0.0, 1.0 / 3, 1e300}, float64),
              half = astype(array({0.1f, 65504.0f}), float16);
  const Graph g = make_graph([&](const Array& x) { return std::pair{x + odd, half}; })(odd);
  const Graph read = parse_graph(g.text(true));
  const auto bytes = [](const Array& a) {
    return std::string(static_cast<const char*>(internal::mutable_data(a)),
                       static_cast<size_t>(a.nbytes()));
  };
  ASSERT_EQ(read.constants.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(bytes(read.constants[i].value), bytes(g.constants[i].value));
}

TEST(GraphParse, StringsOfNestedGraphsKeepTheirLines) {
  const Graph g = parse_graph(R"(graph(a: f32[3]) {
  b: f32[3] = custom_call[name="outer" body=graph(a: f32[3]) {
    b: f32[3] = custom_call[name="two\nlines \\n \"" body=graph(a: f32[3]) {
      return a
    } function=none] a
    return b
  } function=none] a
  return b
})");
  EXPECT_EQ(parse_graph(g.text()).text(), g.text());
  EXPECT_THAT(g.text(), HasSubstr("name=\"two\\nlines \\\\n \\\"\""));
}

std::string parse_error(std::string_view text) {
  try {
    (void)parse_graph(text);
  } catch (const GraphError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(GraphParse, MistakesHaveLineAndColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1, column 1: `graph` is due"},
      {"graph(a: f32[2]) {\n  b: f32[2] = sine a\n  return b\n}",
       "line 2, column 15: there is no primitive `sine`"},
      {"graph(a: f33[2]) {\n  return a\n}", "line 1, column 10: `f33` is no dtype"},
      {"graph(a: f32[2]) {\n  b: f32[2] = sin c\n  return b\n}",
       "line 2, column 19: `c` is not defined before it is used"},
      {"graph(a: f32[2], a: f32[2]) {\n  return a\n}",
       "line 1, column 18: this value is defined twice"},
      {"graph(a: f32[2]) {\n  return b\n}", "line 2, column 10: `b` is not defined"},
      {"graph(a: f32[2]) {\n  b: f32[2] = add a\n  return b\n}",
       "line 2, column 15: add does not take 1 inputs"},
      {"graph(a: f32[2]) {\n  b: f32[] = reduce_sum a\n  return b\n}", "reduce_sum has parameters"},
      {"graph(a: f32[2]) {\n  b: f32[] = reduce_sum[axis=[0]] a\n  return b\n}",
       "the parameter axes is due"},
      {"graph(a: f32[2]) {\n  b: f32[3] = constant {1 2}\n  return b\n}",
       "line 2, column 28: a number is due"},
      {"graph(a: f32[2]) {\n  b: f32[2] = constant {1 2 3}\n  return b\n}",
       "line 2, column 29: `}` is due, and there is `3`"},
      {"graph(a: f32[9000000000000000000]) {\n  return a\n}", "line 1, column 13"},
      {"graph(a: f32[-1]) {\n  return a\n}", "line 1, column 13"},
      {"graph(a: f32[2]) {\n  return a\n} x", "line 3, column 3: the end of the text is due"},
      {"graph(zebra: f32[2]) {\n  return zebra\n}", "line 1, column 7: `zebra` is no name"},
      {"graph(z999999999: f32[2]) {\n  return z999999999\n}", "is no name"},
      {"graph(a: i8[1]) {\n  b: i8[1] = constant {300}\n  return b\n}",
       "line 2, column 24: `300` is out of range"},
      {"graph(a: f32[2]) {\n  b: f32[2] = custom_call[name=\"f\" body=none function=none] a\n  "
       "return b\n}",
       "has no body"},
      {"graph(a: f32[2]) {\n  b: f32[2] = custom_vjp_tangent[name=\"f\" rule=rule] a\n  return "
       "b\n}",
       "the rule has no text"},
      {"graph(a: f32[2]) {\n  b: f32[2] = sin a", "and the text ends"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(parse_error(text), HasSubstr(message)) << text;
}

TEST(GraphParse, WrongTypesAreFoundByTheChecker) {
  EXPECT_THAT(parse_error("graph(a: f32[2]) {\n  b: f32[3] = sin a\n  return b\n}"),
              HasSubstr("its output is f32[2], the value says f32[3]"));
}

TEST(GraphParse, AnyCutOfATextIsAnError) {
  const std::string text = make_graph([](const Array& x) {
                             return sum(sin(x) * 2.0f) + pad(x, {{1, 0}})[0];
                           })(kVector)
                               .text(true);
  ASSERT_EQ(parse_graph(text).text(true), text);
  for (size_t n = 0; n < text.size(); ++n)
    EXPECT_THROW((void)parse_graph(text.substr(0, n)), Error) << text.substr(0, n);
}

Graph simple() {
  return make_graph([](const Array& x) { return sin(x) * x; })(kVector);
}

std::string message_of(const Graph& g) {
  try {
    check(g);
  } catch (const GraphError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(GraphCheck, RejectsBrokenGraphs) {
  EXPECT_NO_THROW(check(simple()));
  Graph g = simple();
  std::swap(g.equations[0], g.equations[1]);
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.avals[1].shape = {4};
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.equations[1].outputs = g.equations[0].outputs;
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.outputs = {99};
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.equations[0].inputs = {-1};
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.inputs.push_back(g.inputs[0]);
  EXPECT_THROW(check(g), GraphError);
  g = simple();
  g.equations[0].outputs.push_back(g.add_value(g.avals[0]));
  EXPECT_THROW(check(g), GraphError);
}

TEST(GraphCheck, AsksBeforeShapeRulesWould) {
  Graph g = simple();
  g.equations[1].inputs.pop_back();
  EXPECT_THAT(message_of(g), HasSubstr("`c: f32[3] = mul b`: mul does not take 1 inputs"));
  g = simple();
  g.equations[0].inputs.clear();
  EXPECT_THAT(message_of(g), HasSubstr("sin does not take 0 inputs"));
  g = simple();
  g.equations[0].primitive = find_primitive("reduce_sum");
  EXPECT_THAT(message_of(g), HasSubstr("reduce_sum has no parameters and needs some"));
  const Graph sums = make_graph([](const Array& x) { return sum(x); })(kVector);
  g = simple();
  g.equations[0].params = sums.equations[0].params;
  EXPECT_THAT(message_of(g), HasSubstr("sin has parameters and takes none"));
  g = simple();
  g.equations[0].primitive = find_primitive("transpose");
  g.equations[0].params = sums.equations[0].params;
  EXPECT_THAT(message_of(g), HasSubstr("transpose has parameters of another primitive"));
  g = simple();
  g.equations[0].primitive = nullptr;
  EXPECT_THAT(message_of(g), HasSubstr("equation 0 has no primitive"));
  g = simple();
  g.constants.push_back({g.add_value(g.avals[0]), Array()});
  EXPECT_THAT(message_of(g), HasSubstr("constant d has no value"));
  g = simple();
  g.equations[0].outputs = {99};
  EXPECT_THAT(message_of(g), HasSubstr("has the number 99 of no value"));
}

TEST(GraphCheck, BodiesTakeWhatTheyAreGiven) {
  EXPECT_THAT(parse_error("graph(a: f32[2]) {\n  b: f32[3] = custom_call[name=\"f\" body=graph(a: "
                          "f32[3]) {\n  return a\n} function=none] a\n  return b\n}"),
              HasSubstr("custom_call: input 0 is f32[2], its body takes f32[3]"));
  EXPECT_THAT(parse_error("graph(a: f32[2]) {\n  b: f32[2] = custom_call[name=\"f\" body=graph(a: "
                          "f32[2]) {\n  return a\n} function=none] a a\n  return b\n}"),
              HasSubstr("its body takes 1 inputs, 2 are given"));
}

// The text of a cond: the types of its index, inputs and outputs, and two branches.
std::string cond_text(const std::string& index, const std::string& input, const std::string& output,
                      const std::string& branches) {
  return "graph(i: " + index + ", a: " + input + ") {\n  b: " + output + " = cond[branches=(" +
         branches + ")] i a\n  return b\n}";
}

TEST(GraphCheck, BranchesOfACond) {
  const std::string same = "graph(a: f32[2]) {\n  return a\n}",
                    turned = "graph(a: f32[2]) {\n  b: f32[2] = neg a\n  return b\n}",
                    total =
                        "graph(a: f32[2]) {\n  b: f32[] = reduce_sum[axes=[0]] a\n  return b\n}",
                    wide = "graph(a: f32[3]) {\n  return a\n}",
                    two = "graph(a: f32[2], b: f32[2]) {\n  return a\n}",
                    both = "graph(a: f32[2]) {\n  return a a\n}";
  EXPECT_NO_THROW((void)parse_graph(cond_text("i32[]", "f32[2]", "f32[2]", same + ", " + turned)));
  const std::tuple<std::string, std::string, const char*> cases[] = {
      {"f32[]", same + ", " + turned, "cond: the first input must be the index, i32[]"},
      {"i32[2]", same + ", " + turned, "cond: the first input must be the index, i32[]"},
      {"i64[]", same + ", " + turned, "cond: the first input must be the index, i32[]"},
      {"i32[]", "", "cond: there are no branches"},
      {"i32[]", same + ", " + wide, "cond: input 0 of a branch is f32[3], not f32[2]"},
      {"i32[]", same + ", " + two, "cond: a branch has 2 inputs, there are 1"},
      {"i32[]", same + ", " + total, "cond: output 0 of a branch is f32[], not f32[2]"},
      {"i32[]", same + ", " + both, "cond: a branch has 2 outputs, there are 1"},
  };
  for (const auto& [index, branches, message] : cases)
    EXPECT_THAT(parse_error(cond_text(index, "f32[2]", "f32[2]", branches)), HasSubstr(message));
  // A graph that was made otherwise is checked alike.
  Graph g = parse_graph(cond_text("i32[]", "f32[2]", "f32[2]", same + ", " + turned));
  for (const Aval& index : {Aval{Dtype::kFloat32, false, {}}, Aval{Dtype::kInt32, false, {2}}}) {
    g.avals[static_cast<size_t>(g.inputs[0])] = index;
    EXPECT_THAT(message_of(g), HasSubstr("cond: the first input must be the index, i32[]"));
  }
}

TEST(GraphEvaluate, ChecksItsArguments) {
  EXPECT_THROW((void)evaluate(simple(), std::vector<Array>{}), Error);
  EXPECT_THROW((void)evaluate(simple(), std::vector<Array>{array({1.0f})}), ShapeError);
  EXPECT_THROW((void)evaluate(simple(), std::vector<Array>{array({1, 2, 3})}), DtypeError);
}

TEST(Passes, DeadCodeGoes) {
  const auto f = [](const Array& x) {
    (void)(cos(x) + 3.0f);
    return sin(x);
  };
  EXPECT_EQ(passes::dead_code(make_graph(f)(kVector)).text(),
            "graph(a: f32[3]) {\n  b: f32[3] = sin a\n  return b\n}");
}

TEST(Passes, RepeatedWorkIsDoneOnce) {
  const auto f = [](const Array& x) {
    return sin(x) * sin(x) + sum(outer(x, x), 0) * sum(outer(x, x), 1);
  };
  const Graph g = passes::dead_code(passes::common_subexpressions(make_graph(f)(kVector)));
  check(g);
  size_t sines = 0, sums = 0;
  for (const Equation& e : g.equations) {
    sines += std::string_view(e.primitive->name) == "sin";
    sums += std::string_view(e.primitive->name) == "reduce_sum";
  }
  EXPECT_EQ(sines, 1u);
  EXPECT_EQ(sums, 2u) << "their parameters differ";
  EXPECT_TRUE(array_equal(evaluate(g, std::vector<Array>{kVector})[0], f(kVector)));
}

TEST(Passes, EqualConstantsAreOne) {
  const auto f = [](const Array& x) {
    return (x + array({1.0f, 2.0f, 3.0f})) * (x + array({1.0f, 2.0f, 3.0f}));
  };
  EXPECT_EQ(passes::dead_code(passes::common_subexpressions(make_graph(f)(kVector))).text(),
            "graph(a: f32[3]) {\n  b: f32[3] = constant {1 2 3}\n  c: f32[3] = add a b\n  d: "
            "f32[3] = mul c c\n  return d\n}");
}

TEST(Passes, CallsAreTakenApart) {
  const auto twice = custom_jvp([](const Array& x) { return x + x; },
                                [](const std::tuple<Array>& p, const std::tuple<Array>& t) {
                                  return std::pair{std::get<0>(p), std::get<0>(t)};
                                });
  const Graph g = make_graph([&](const Array& x) { return sin(twice(x)); })(kVector);
  EXPECT_THAT(g.text(), HasSubstr("custom_call"));
  EXPECT_EQ(passes::dead_code(passes::inline_calls(g)).text(),
            "graph(a: f32[3]) {\n  c: f32[3] = add a a\n  b: f32[3] = sin c\n  return b\n}");
}

}  // namespace graph_test
}  // namespace spruce
