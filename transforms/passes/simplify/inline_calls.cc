// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spruce/core/graph/build.h"
#include "spruce/core/graph/custom_call.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/checkpoint_rules.h"
#include "spruce/transforms/rules/linear_solve_rules.h"

namespace spruce::passes {
namespace {

// The graph that an equation calls; null for no call.
const Graph* callee(const Equation& e) {
  if (e.primitive == &custom_call_p) return &internal::custom_call_body(e.params);
  if (e.primitive == &checkpoint_p) return e.params.get<CheckpointParams>().body.get();
  return e.primitive == &linear_solve_p ? e.params.get<LinearSolveParams>().solve.get() : nullptr;
}

// Leaves the inputs that the solve takes.
void drop_other_constants(const LinearSolveParams& p, std::vector<ValueId>& inputs) {
  const auto solve = inputs.begin() + p.map_consts;
  inputs.erase(solve + p.solve_consts, solve + p.solve_consts + p.transpose_consts);
  inputs.erase(inputs.begin(), inputs.begin() + p.map_consts);
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

// One pass over the equations of `graph`; a body that was put in may hold calls itself.
Graph inline_once(Graph graph) {
  return rebuild(std::move(graph), [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    const Graph* called = callee(e);
    if (called == nullptr) {
      out.equations.push_back(std::move(e));
      return;
    }
    if (e.primitive == &linear_solve_p)
      drop_other_constants(e.params.get<LinearSolveParams>(), e.inputs);
    if (e.primitive == &checkpoint_p) hold_back(out, e.params.get<CheckpointParams>(), e.inputs);
    splice_for(out, e, *called, renamed);
  });
}

}  // namespace

Graph inline_calls(Graph graph) {
  while (std::any_of(graph.equations.begin(), graph.equations.end(),
                     [](const Equation& e) { return callee(e) != nullptr; }))
    graph = inline_once(std::move(graph));
  for (Equation& e : graph.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, inline_calls);
  }
  return graph;
}

}  // namespace spruce::passes
