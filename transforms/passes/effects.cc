// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/effects.h"

#include <algorithm>

#include "spruce/core/graph/find.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/checkpoint_rules.h"
#include "spruce/transforms/rules/effect_rules.h"

namespace spruce::passes {
namespace {

bool is_host_work(const Equation& e) {
  return e.primitive == &debug_print_p || e.primitive == &check_p || e.primitive == &host_call_p;
}

bool is_effect(const Equation& e) {
  return is_host_work(e) && (e.primitive != &host_call_p || e.params.get<HostCallParams>().effects);
}

}  // namespace

const Equation* find_effect(const Graph& graph) {
  return internal::find_equation(graph, is_effect);
}

const Equation* find_host_work(const Graph& graph) {
  return internal::find_equation(graph, is_host_work);
}

bool has_effect(const Equation& e) { return is_effect(e) || has_effects(e.params); }

bool has_effects(const Graph& graph) { return find_effect(graph) != nullptr; }

bool has_effects(const Params& params) {
  return internal::find_equation(params, is_effect) != nullptr;
}

Graph order_effects(Graph graph) {
  std::vector<uint8_t> effects;
  for (Equation& e : graph.equations) {
    effects.push_back(has_effect(e) ? 1 : 0);
    if (effects.back() != 0 && has_bodies(e)) e.params = map_graphs(e.params, order_effects);
  }
  if (std::count(effects.begin(), effects.end(), 1) < 2) return graph;
  std::vector<Equation> ordered;
  ValueId before = kNone;
  for (size_t n = 0; n < effects.size(); ++n) {
    Equation& e = graph.equations[n];
    if (effects[n] == 0) {
      ordered.push_back(std::move(e));
      continue;
    }
    if (before != kNone && !e.inputs.empty()) {
      const ValueId held = graph.add_value(graph.avals[static_cast<size_t>(e.inputs[0])]);
      ordered.push_back({&barrier_p, {}, {e.inputs[0], before}, {held}, e.place});
      e.inputs[0] = held;
    } else if (before != kNone && is_effect(e)) {
      e.inputs.push_back(before);  // these take inputs that they do not look at
    }
    if (!e.outputs.empty()) before = e.outputs[0];
    ordered.push_back(std::move(e));
  }
  graph.equations = std::move(ordered);
  return graph;
}

}  // namespace spruce::passes
