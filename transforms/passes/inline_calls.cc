// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/custom_call.h"
#include "spruce/transforms/checkpoint_rules.h"
#include "spruce/transforms/implicit/linear_solve_rules.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// The graph that an equation calls, and which of its inputs that takes; null for no call.
const Graph* callee(const Equation& e, std::vector<ValueId>& inputs) {
  if (e.primitive == &custom_call_p) return &internal::custom_call_body(e.params);
  if (e.primitive == &checkpoint_p) return e.params.get<CheckpointParams>().body.get();
  if (e.primitive != &linear_solve_p) return nullptr;
  const auto& p = e.params.get<LinearSolveParams>();
  const auto solve = inputs.begin() + p.map_consts;
  inputs.erase(solve + p.solve_consts, solve + p.solve_consts + p.transpose_consts);
  inputs.erase(inputs.begin(), inputs.begin() + p.map_consts);
  return p.solve.get();
}

// Puts barriers before the inputs that a checkpoint holds back.
void hold_back(Graph& out, const CheckpointParams& p, std::vector<ValueId>& inputs) {
  for (size_t i = 0; i < static_cast<size_t>(p.held); ++i) {
    const ValueId held = out.add_value(out.avals[static_cast<size_t>(inputs[i])]);
    out.equations.push_back(
        {&barrier_p, {}, {inputs[i], inputs[static_cast<size_t>(p.held)]}, {held}, {}});
    inputs[i] = held;
  }
}

// One pass over the equations of `graph`; sets `found` if a body that was put in may hold calls
// itself.
Graph inline_once(const Graph& graph, bool& found) {
  Graph out;
  out.avals = graph.avals;
  out.inputs = graph.inputs;
  out.constants = graph.constants;
  std::vector<ValueId> renamed(graph.avals.size());
  for (size_t i = 0; i < renamed.size(); ++i) renamed[i] = static_cast<ValueId>(i);
  for (const Equation& e : graph.equations) {
    Equation copy = e;
    for (ValueId& v : copy.inputs) v = renamed[static_cast<size_t>(v)];
    const Graph* called = callee(e, copy.inputs);
    if (called == nullptr) {
      out.equations.push_back(std::move(copy));
      continue;
    }
    found = true;
    const Graph& body = *called;
    if (e.primitive == &checkpoint_p) hold_back(out, e.params.get<CheckpointParams>(), copy.inputs);
    std::vector<ValueId> of_body(body.avals.size(), -1);
    for (size_t i = 0; i < body.inputs.size(); ++i)
      of_body[static_cast<size_t>(body.inputs[i])] = copy.inputs[i];
    for (const Graph::Constant& c : body.constants) {
      of_body[static_cast<size_t>(c.id)] = out.add_value(c.value.aval());
      out.constants.push_back({of_body[static_cast<size_t>(c.id)], c.value});
    }
    for (const Equation& inner : body.equations) {
      Equation moved = inner;
      for (ValueId& v : moved.inputs) v = of_body[static_cast<size_t>(v)];
      for (ValueId& v : moved.outputs) {
        ValueId& place = of_body[static_cast<size_t>(v)];
        place = out.add_value(body.avals[static_cast<size_t>(v)]);
        v = place;
      }
      out.equations.push_back(std::move(moved));
    }
    for (size_t k = 0; k < e.outputs.size(); ++k) {
      renamed[static_cast<size_t>(e.outputs[k])] = of_body[static_cast<size_t>(body.outputs[k])];
    }
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(renamed[static_cast<size_t>(v)]);
  return out;
}

}  // namespace

Graph inline_calls(const Graph& graph) {
  Graph out = graph;
  for (bool found = true; found;) {
    found = false;
    out = inline_once(out, found);
  }
  for (Equation& e : out.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, inline_calls);
  }
  return out;
}

}  // namespace spruce::passes
