// SPDX-License-Identifier: Apache-2.0
// Passes on graphs as text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "spruce/transforms/passes/passes.h"

namespace spruce {

/// The graph with its values numbered in the order in which they are defined.
inline Graph renumbered(const Graph& graph) {
  Graph out;
  std::vector<ValueId> number(graph.avals.size(), -1);
  const auto define = [&](ValueId v) {
    return number[static_cast<size_t>(v)] = out.add_value(graph.avals[static_cast<size_t>(v)]);
  };
  for (const ValueId v : graph.inputs) out.inputs.push_back(define(v));
  for (const Graph::Constant& c : graph.constants) out.constants.push_back({define(c.id), c.value});
  for (Equation e : graph.equations) {
    for (ValueId& v : e.inputs) v = number[static_cast<size_t>(v)];
    for (ValueId& v : e.outputs) v = define(v);
    out.equations.push_back(std::move(e));
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(number[static_cast<size_t>(v)]);
  return out;
}

/// What stands between the braces of the text of the graph, values named in order.
inline std::string body_of(const Graph& graph) {
  std::string text = renumbered(graph).text();
  const size_t begin = text.find("{\n  ") + 4;
  text = text.substr(begin, text.size() - begin - 2);
  for (size_t i = 0; (i = text.find("\n  ", i)) != std::string::npos;) text.replace(i, 3, "\n");
  return text;
}

/// The body of a graph after the pass, without what is of no use any more.
inline std::string after(Graph (*pass)(Graph), const std::string& inputs, const std::string& body) {
  const Graph out = pass(parse_graph("graph(" + inputs + ") {\n" + body + "\n}"));
  check(out);
  return body_of(passes::dead_code(out));
}

/// One rule: what the pass makes of a body.
struct PassCase {
  std::string inputs;
  std::string before;
  std::string after;
};

inline void expect_cases(Graph (*pass)(Graph), const std::vector<PassCase>& cases) {
  for (const PassCase& c : cases) EXPECT_EQ(after(pass, c.inputs, c.before), c.after) << c.before;
}

}  // namespace spruce
