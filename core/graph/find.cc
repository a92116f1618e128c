// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/find.h"

#include <algorithm>
#include <set>
#include <vector>

namespace spruce::internal {
namespace {

class Search {
 public:
  // Enters the graphs within the parameters, the first one on top.
  void enter(const Params& params) {
    if (params.empty()) return;
    const auto first = static_cast<std::ptrdiff_t>(open_.size());
    params.base()->visit_graphs([&](const GraphPtr& g) {
      if (g != nullptr && seen_.insert(g.get()).second) enter(*g);
    });
    std::reverse(open_.begin() + first, open_.end());
  }
  void enter(const Graph& graph) { open_.push_back({&graph, 0}); }

  const Equation* run(const EquationTest& test) {
    while (!open_.empty()) {
      auto& [graph, next] = open_.back();
      if (next == graph->equations.size()) {
        open_.pop_back();
        continue;
      }
      const Equation& e = graph->equations[next++];
      if (test(e)) return &e;
      enter(e.params);
    }
    return nullptr;
  }

 private:
  struct Place {
    const Graph* graph;
    size_t next;  // the number of an equation
  };
  std::vector<Place> open_;
  std::set<const Graph*> seen_;
};

}  // namespace

const Equation* find_equation(const Graph& graph, const EquationTest& test) {
  Search search;
  search.enter(graph);
  return search.run(test);
}

const Equation* find_equation(const Params& params, const EquationTest& test) {
  Search search;
  search.enter(params);
  return search.run(test);
}

}  // namespace spruce::internal
