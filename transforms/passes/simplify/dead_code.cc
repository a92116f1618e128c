// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// Leaves what the outputs need; with `effects`, what has an effect as well.
Graph swept(Graph graph, bool effects) {
  std::vector<uint8_t> live(graph.avals.size(), 0);
  for (const ValueId v : graph.outputs) live[static_cast<size_t>(v)] = 1;
  std::vector<Equation*> kept;
  for (size_t n = graph.equations.size(); n-- > 0;) {
    Equation& e = graph.equations[n];
    const bool needed = std::any_of(e.outputs.begin(), e.outputs.end(),
                                    [&](ValueId v) { return live[static_cast<size_t>(v)] != 0; });
    if (!needed && !(effects && has_effect(e))) continue;
    for (const ValueId v : e.inputs) live[static_cast<size_t>(v)] = 1;
    for (const ValueId v : e.outputs) live[static_cast<size_t>(v)] = 1;
    kept.push_back(&e);
  }
  for (const ValueId v : graph.inputs) live[static_cast<size_t>(v)] = 1;

  Graph out;
  std::vector<ValueId> renamed(graph.avals.size(), -1);
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i]) renamed[i] = out.add_value(graph.avals[i]);
  }
  const auto rename = [&](std::vector<ValueId> ids) {
    for (ValueId& v : ids) v = renamed[static_cast<size_t>(v)];
    return ids;
  };
  out.inputs = rename(graph.inputs);
  out.outputs = rename(graph.outputs);
  for (const Graph::Constant& c : graph.constants) {
    if (live[static_cast<size_t>(c.id)])
      out.constants.push_back({renamed[static_cast<size_t>(c.id)], c.value});
  }
  for (size_t n = kept.size(); n-- > 0;) {
    Equation e = std::move(*kept[n]);
    e.inputs = rename(std::move(e.inputs));
    e.outputs = rename(std::move(e.outputs));
    out.equations.push_back(std::move(e));
  }
  return out;
}

Graph pure_part(Graph graph) {
  Graph out = swept(std::move(graph), false);
  for (Equation& e : out.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, pure_part);
  }
  return out;
}

}  // namespace

Graph outermost_dead_code(Graph graph) { return swept(std::move(graph), true); }

Graph without_effects(Graph graph) {
  return has_effects(graph) ? pure_part(std::move(graph)) : graph;
}

Graph dead_code(Graph graph) {
  Graph out = outermost_dead_code(std::move(graph));
  for (Equation& e : out.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, dead_code);
  }
  return out;
}

}  // namespace spruce::passes
