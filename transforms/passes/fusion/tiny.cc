// SPDX-License-Identifier: Apache-2.0
// Equations over arrays of a few elements become one unrolled group where no path leads out of them
// and back: those with the same number of other equations on the longest path before them.
#include "spruce/core/fusion/tiny.h"

#include <algorithm>
#include <map>
#include <queue>

#include "spruce/core/graph/build.h"
#include "spruce/core/rules/group.h"
#include "spruce/transforms/passes/fusion/regions.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr int64_t kMostWork = 3000;  // scalar operations in one group

using internal::at;

// The graph with the members of groups in their place where all of them are tiny.
Graph with_members(Graph graph) {
  return rebuild(std::move(graph), [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    const GraphPtr body = rules::group_body(e);
    const auto has_code = [&](const Equation& m) { return fusion::tiny_work(*body, m) >= 0; };
    if (body != nullptr && std::all_of(body->equations.begin(), body->equations.end(), has_code))
      splice_for(out, e, *body, renamed);
    else
      out.equations.push_back(std::move(e));
  });
}

// What runs as one: an equation, or several tiny ones.
struct Node {
  std::vector<size_t> members;
  int64_t work = -1;      // scalar operations; -1 for what is not tiny
  int64_t equations = 0;  // that do something
};

std::vector<Node> nodes_of(const Graph& g) {
  std::vector<Node> nodes;
  std::vector<int> depth(g.avals.size(), 0);
  std::map<int, size_t> open;  // the node that takes in tiny equations of that depth
  std::vector<bool> tiny_value(g.avals.size(), true);
  for (size_t i = 0; i < g.equations.size(); ++i) {
    const Equation& e = g.equations[i];
    const int64_t work = fusion::tiny_work(g, e), working = internal::is_view(e) ? 0 : 1;
    const bool tiny = work >= 0;
    int before = 0;
    for (const ValueId v : e.inputs)
      before = std::max(before, depth[at(v)] + (tiny && !tiny_value[at(v)] ? 1 : 0));
    for (const ValueId v : e.outputs) depth[at(v)] = before, tiny_value[at(v)] = tiny;
    const auto found = tiny ? open.find(before) : open.end();
    if (found != open.end() && nodes[found->second].work + work <= kMostWork) {
      Node& node = nodes[found->second];
      node.members.push_back(i);
      node.work += work;
      node.equations += working;
      continue;
    }
    if (tiny) open[before] = nodes.size();
    nodes.push_back({{i}, work, working});
  }
  return nodes;
}

// Nodes that are not worth it fall apart again.
std::vector<Node> worthwhile(std::vector<Node> nodes) {
  std::vector<Node> all;
  for (Node& node : nodes) {
    if (node.work >= 0 && node.equations >= 2) {
      all.push_back(std::move(node));
      continue;
    }
    for (const size_t i : node.members) all.push_back({{i}});
  }
  return all;
}

// An order in which each node comes after those that it needs, near that of the equations.
std::vector<size_t> order_of(const Graph& g, const std::vector<Node>& nodes) {
  std::vector<size_t> maker(g.avals.size(), nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const size_t i : nodes[n].members) {
      for (const ValueId v : g.equations[i].outputs) maker[at(v)] = n;
    }
  }
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::vector<int> waits(nodes.size(), 0);
  for (size_t n = 0; n < nodes.size(); ++n) {
    std::vector<size_t> needs;
    for (const size_t i : nodes[n].members) {
      for (const ValueId v : g.equations[i].inputs) {
        if (maker[at(v)] != nodes.size() && maker[at(v)] != n) needs.push_back(maker[at(v)]);
      }
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    for (const size_t m : needs) readers[m].push_back(n);
    waits[n] = static_cast<int>(needs.size());
  }
  using Ready = std::pair<size_t, size_t>;  // the last equation of a node, and the node
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (waits[n] == 0) ready.push({nodes[n].members.back(), n});
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t n = ready.top().second;
    ready.pop();
    order.push_back(n);
    for (const size_t reader : readers[n]) {
      if (--waits[reader] == 0) ready.push({nodes[reader].members.back(), reader});
    }
  }
  return order;
}

}  // namespace

Graph tiny(Graph fused) {
  for (Equation& e : fused.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, tiny);
  }
  const Graph graph = with_members(fused);
  const std::vector<Node> nodes = worthwhile(nodes_of(graph));
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.work >= 0; }))
    return fused;
  Graph out = without_equations(graph);
  Regions regions(graph, fusion::kTinyElements);
  for (const size_t n : order_of(graph, nodes)) {
    if (nodes[n].work >= 0)
      out.equations.push_back(regions.equation(nodes[n].members, true));
    else
      out.equations.push_back(graph.equations[nodes[n].members[0]]);
  }
  return outermost_dead_code(std::move(out));
}

}  // namespace spruce::passes
