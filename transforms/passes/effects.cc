// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/effects.h"

#include <algorithm>
#include <set>

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

// Looks at each graph once, also where several equations hold it, as those of a derivative do.
struct Search {
  bool (*test)(const Equation&);
  std::set<const Graph*> seen = {};

  // The equation itself, or the first one in the graphs within it.
  const Equation* find(const Equation& e) {
    if (test(e)) return &e;
    const Equation* found = nullptr;
    if (!has_bodies(e)) return found;
    e.params.base()->visit_graphs([&](const GraphPtr& g) {
      if (found == nullptr && g != nullptr && seen.insert(g.get()).second) found = find(*g);
    });
    return found;
  }
  const Equation* find(const Graph& graph) {
    for (const Equation& e : graph.equations) {
      if (const Equation* found = find(e)) return found;
    }
    return nullptr;
  }
};

}  // namespace

const Equation* find_effect(const Graph& graph) { return Search{is_effect}.find(graph); }

const Equation* find_host_work(const Graph& graph) { return Search{is_host_work}.find(graph); }

bool has_effect(const Equation& e) { return Search{is_effect}.find(e) != nullptr; }

bool has_effects(const Graph& graph) { return find_effect(graph) != nullptr; }

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
