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

  // Calls visit(graph, null) for each graph and visit(graph, &equation) for each equation, until
  // one is true.
  template <class Visit>
  void run(const Visit& visit) {
    while (!open_.empty()) {
      auto& [graph, next] = open_.back();
      if (next == 0 && visit(*graph, nullptr)) return;
      if (next == graph->equations.size()) {
        open_.pop_back();
        continue;
      }
      const Equation& e = graph->equations[next++];
      if (visit(*graph, &e)) return;
      enter(e.params);
    }
  }

 private:
  struct Place {
    const Graph* graph;
    size_t next;  // the number of an equation
  };
  std::vector<Place> open_;
  std::set<const Graph*> seen_;
};

template <class Source>
const Equation* find(const Source& source, const EquationTest& test) {
  Search search;
  search.enter(source);
  const Equation* found = nullptr;
  search.run([&](const Graph&, const Equation* e) {
    if (e == nullptr || !test(*e)) return false;
    found = e;
    return true;
  });
  return found;
}

template <class Source>
bool holds_constant(const Source& source, const ConstantTest& test) {
  Search search;
  search.enter(source);
  bool found = false;
  search.run([&](const Graph& g, const Equation* e) {
    if (e == nullptr) {
      found = std::any_of(g.constants.begin(), g.constants.end(),
                          [&](const Graph::Constant& c) { return test(c.value); });
    }
    return found;
  });
  return found;
}

}  // namespace

const Equation* find_equation(const Graph& graph, const EquationTest& test) {
  return find(graph, test);
}
const Equation* find_equation(const Params& params, const EquationTest& test) {
  return find(params, test);
}

bool any_constant(const Graph& graph, const ConstantTest& test) {
  return holds_constant(graph, test);
}
bool any_constant(const Params& params, const ConstantTest& test) {
  return holds_constant(params, test);
}

}  // namespace spruce::internal
