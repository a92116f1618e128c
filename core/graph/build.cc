// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/build.h"

#include <numeric>

namespace spruce {

using internal::at;

std::vector<const Aval*> types_of(const Graph& graph, std::span<const ValueId> values) {
  std::vector<const Aval*> types;
  types.reserve(values.size());
  for (const ValueId v : values) types.push_back(&graph.avals[at(v)]);
  return types;
}

ValueId emit(Graph& graph, const Primitive& p, Params params, std::vector<ValueId> in,
             const std::string& place) {
  const Aval type = output_avals(p, types_of(graph, in), params)[0];
  const ValueId v = graph.add_value(type);
  graph.equations.push_back({&p, std::move(params), std::move(in), {v}, place});
  return v;
}

Graph without_equations(const Graph& graph) {
  Graph out;
  out.avals = graph.avals;
  out.inputs = graph.inputs;
  out.constants = graph.constants;
  out.outputs = graph.outputs;
  return out;
}

std::vector<ValueId> splice(Graph& into, const Graph& body, std::span<const ValueId> inputs) {
  std::vector<ValueId> names(body.avals.size(), -1);
  const auto add = [&](ValueId v) { return names[at(v)] = into.add_value(body.avals[at(v)]); };
  for (size_t i = 0; i < inputs.size(); ++i) names[at(body.inputs[i])] = inputs[i];
  for (const Graph::Constant& c : body.constants) into.constants.push_back({add(c.id), c.value});
  for (const Equation& e : body.equations) {
    Equation copy = e;
    for (ValueId& v : copy.inputs) v = names[at(v)];
    for (ValueId& v : copy.outputs) v = add(v);
    into.equations.push_back(std::move(copy));
  }
  std::vector<ValueId> out;
  for (const ValueId v : body.outputs) out.push_back(names[at(v)]);
  return out;
}

Graph rebuild(
    Graph graph,
    const std::function<void(Graph& out, Equation e, std::vector<ValueId>& renamed)>& put) {
  Graph out;
  std::vector<ValueId> renamed(graph.avals.size());
  out.avals = std::move(graph.avals);
  out.inputs = std::move(graph.inputs);
  out.constants = std::move(graph.constants);
  std::iota(renamed.begin(), renamed.end(), 0);
  for (Equation& e : graph.equations) {
    for (ValueId& v : e.inputs) v = renamed[at(v)];
    put(out, std::move(e), renamed);
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(renamed[at(v)]);
  return out;
}

void splice_for(Graph& out, const Equation& e, const Graph& body, std::vector<ValueId>& renamed) {
  const std::vector<ValueId> results = splice(out, body, e.inputs);
  for (size_t k = 0; k < results.size(); ++k) renamed[at(e.outputs[k])] = results[k];
}

}  // namespace spruce
