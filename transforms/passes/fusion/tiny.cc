// SPDX-License-Identifier: Apache-2.0
// Equations over arrays of a few elements become one equation `tiny` where no path leads out of
// them and back: those with the same number of other equations on the longest path before them.
#include "spruce/core/fusion/tiny.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "spruce/core/rules/group.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr int64_t kMostWork = 3000;  // scalar operations in one group

using internal::at;

// Scalar operations of an equation, or of all that were fused to it, and how many equations do
// something; -1 for what is not tiny.
struct Work {
  int64_t operations = -1;
  int64_t equations = 0;
};

// A graph that was compiled before has groups within groups.
Work work_of(const Graph& g, const Equation& e) {
  const GraphPtr body = rules::group_body(e);
  if (body == nullptr) {
    const int64_t operations = fusion::tiny_work(g, e);
    return {operations, e.primitive->kind == PrimitiveKind::kView ? 0 : 1};
  }
  Work sum{0, 0};
  for (const Equation& inner : body->equations) {
    const Work work = work_of(*body, inner);
    if (work.operations < 0) return {};
    sum.operations += work.operations;
    sum.equations += work.equations;
  }
  return sum;
}

// What runs as one: an equation, or several tiny ones.
struct Node {
  std::vector<size_t> members;
  Work work{0, 0};
  bool tiny = false;
};

std::vector<Node> nodes_of(const Graph& g) {
  std::vector<Node> nodes;
  std::vector<int> depth(g.avals.size(), 0);
  std::map<int, size_t> open;  // the node that takes in tiny equations of that depth
  std::vector<bool> tiny_value(g.avals.size(), true);
  for (size_t i = 0; i < g.equations.size(); ++i) {
    const Equation& e = g.equations[i];
    const Work work = work_of(g, e);
    const bool tiny = work.operations >= 0;
    int before = 0;
    for (const ValueId v : e.inputs)
      before = std::max(before, depth[at(v)] + (tiny && !tiny_value[at(v)] ? 1 : 0));
    for (const ValueId v : e.outputs) depth[at(v)] = before, tiny_value[at(v)] = tiny;
    const auto found = tiny ? open.find(before) : open.end();
    if (found != open.end() &&
        nodes[found->second].work.operations + work.operations <= kMostWork) {
      Node& node = nodes[found->second];
      node.members.push_back(i);
      node.work.operations += work.operations;
      node.work.equations += work.equations;
      continue;
    }
    if (tiny) open[before] = nodes.size();
    nodes.push_back({{i}, work, tiny});
  }
  return nodes;
}

// Nodes that are not worth it fall apart again.
std::vector<Node> worthwhile(std::vector<Node> nodes) {
  std::vector<Node> all;
  for (Node& node : nodes) {
    if (node.tiny && node.work.equations >= 2) {
      all.push_back(std::move(node));
      continue;
    }
    for (const size_t i : node.members) all.push_back({{i}, {}, false});
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

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), readers_(graph.avals.size(), 0) {
    for (const Equation& e : graph.equations) {
      for (const ValueId v : e.inputs) ++readers_[at(v)];
    }
    for (const ValueId v : graph.outputs) ++readers_[at(v)];
    for (const Graph::Constant& c : graph.constants) constants_[c.id] = c.value;
  }

  Equation tiny(const Node& node) {
    body_ = {};
    names_.clear();
    Equation result{&tiny_p, {}, {}, {}, graph_.equations[node.members[0]].place};
    std::unordered_map<ValueId, int> inside;  // readers
    std::unordered_set<ValueId> made;
    for (const size_t i : node.members) {
      for (const ValueId v : graph_.equations[i].inputs) ++inside[v];
      for (const ValueId v : graph_.equations[i].outputs) made.insert(v);
    }
    for (const size_t i : node.members) {
      const Equation& e = graph_.equations[i];
      for (const ValueId v : e.inputs) {
        if (made.count(v) != 0 || names_.count(v) != 0) continue;
        names_[v] = body_.add_value(graph_.avals[at(v)]);
        const auto constant = constants_.find(v);
        if (constant != constants_.end()) {
          body_.constants.push_back({names_[v], constant->second});
        } else {
          body_.inputs.push_back(names_[v]);
          result.inputs.push_back(v);
        }
      }
    }
    for (const size_t i : node.members) add(graph_.equations[i], names_, graph_);
    for (const size_t i : node.members) {
      for (const ValueId v : graph_.equations[i].outputs) {
        if (readers_[at(v)] == inside[v]) continue;
        body_.outputs.push_back(names_.at(v));
        result.outputs.push_back(v);
      }
    }
    result.params = Params::make(GroupParams{std::make_shared<const Graph>(std::move(body_))});
    return result;
  }

 private:
  using Names = std::map<ValueId, ValueId>;

  void add(const Equation& e, Names& names, const Graph& from) {
    if (const GraphPtr members = rules::group_body(e)) return add_members(e, names, *members);
    Equation copy = e;
    for (ValueId& v : copy.inputs) v = names.at(v);
    for (ValueId& v : copy.outputs) {
      const ValueId inner = v;
      v = body_.add_value(from.avals[at(inner)]);
      names[inner] = v;
    }
    body_.equations.push_back(std::move(copy));
  }

  void add_members(const Equation& e, Names& outer, const Graph& members) {
    Names names;
    for (size_t i = 0; i < members.inputs.size(); ++i)
      names[members.inputs[i]] = outer.at(e.inputs[i]);
    for (const Graph::Constant& c : members.constants) {
      names[c.id] = body_.add_value(members.avals[at(c.id)]);
      body_.constants.push_back({names[c.id], c.value});
    }
    for (const Equation& x : members.equations) add(x, names, members);
    for (size_t k = 0; k < e.outputs.size(); ++k)
      outer[e.outputs[k]] = names.at(members.outputs[k]);
  }

  const Graph& graph_;
  std::vector<int> readers_;
  std::map<ValueId, Array> constants_;
  Graph body_;
  Names names_;
};

// The graph with the pass applied to those within it.
Graph with_tiny_bodies(Graph graph) {
  for (Equation& e : graph.equations) {
    if (has_bodies(e)) e.params = map_graphs(e.params, tiny);
  }
  return graph;
}

}  // namespace

Graph tiny(Graph outer) {
  Graph graph = with_tiny_bodies(std::move(outer));
  const std::vector<Node> nodes = worthwhile(nodes_of(graph));
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.tiny; })) return graph;
  Graph out;
  out.avals = graph.avals;
  out.inputs = graph.inputs;
  out.constants = graph.constants;
  out.outputs = graph.outputs;
  Writer writer(graph);
  for (const size_t n : order_of(graph, nodes)) {
    if (nodes[n].tiny)
      out.equations.push_back(writer.tiny(nodes[n]));
    else
      out.equations.push_back(graph.equations[nodes[n].members[0]]);
  }
  return outermost_dead_code(std::move(out));
}

}  // namespace spruce::passes
