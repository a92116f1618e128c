// SPDX-License-Identifier: Apache-2.0
// What a branch within a loop keeps for reverse mode and makes out of constants of the loop alone,
// the weights say: it is computed once, in front of the loop, for all branches. The linear part of
// each step then picks the one of the branch that was taken, so that a step need not keep it.
#include <algorithm>

#include "spruce/transforms/control/cond_rules.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::internal {
namespace {

constexpr int64_t kSmall = 64;  // bytes that are kept in less time than they are picked

size_t at(ValueId v) { return static_cast<size_t>(v); }

GraphPtr shared(Graph g) { return std::make_shared<const Graph>(std::move(g)); }

// Which values of the graph depend on inputs in `moving`.
std::vector<uint8_t> moved(const Graph& g, const Mask& moving) {
  std::vector<uint8_t> marked(g.avals.size(), 0);
  for (size_t i = 0; i < moving.size(); ++i) marked[at(g.inputs[i])] = moving[i] ? 1 : 0;
  for (const Equation& e : g.equations) {
    uint8_t any = 0;
    for (const ValueId v : e.inputs) any |= marked[at(v)];
    for (const ValueId v : e.outputs) marked[at(v)] = any;
  }
  return marked;
}

class Picks {
 public:
  Picks(LinearBody& body, size_t outputs, const Mask& moving)
      : g_(body.forward), linear_(body.linear), moves_(moved(g_, moving)) {
    const auto first = g_.outputs.begin() + static_cast<ptrdiff_t>(outputs);
    kept_.assign(first, g_.outputs.end());
    g_.outputs.erase(first, g_.outputs.end());
    const auto tangents = linear_.inputs.begin() + static_cast<ptrdiff_t>(kept_.size());
    places_.assign(linear_.inputs.begin(), tangents);
    linear_.inputs.erase(linear_.inputs.begin(), tangents);
  }

  // The number of residuals that there are now.
  size_t run() {
    std::vector<Equation> old = std::move(g_.equations);
    g_.equations.clear();
    for (Equation& e : old) {
      if (e.primitive == &cond_p && moves_[at(e.inputs[0])] != 0) take_out(e);
      g_.equations.push_back(std::move(e));
    }
    linear_.equations.insert(linear_.equations.begin(), std::make_move_iterator(picks_.begin()),
                             std::make_move_iterator(picks_.end()));
    g_.outputs.insert(g_.outputs.end(), kept_.begin(), kept_.end());
    linear_.inputs.insert(linear_.inputs.begin(), places_.begin(), places_.end());
    return kept_.size();
  }

 private:
  size_t residual(ValueId v) const {
    return static_cast<size_t>(std::find(kept_.begin(), kept_.end(), v) - kept_.begin());
  }

  void take_out(const Equation& e) {
    Mask moving;
    for (size_t i = 1; i < e.inputs.size(); ++i) moving.push_back(moves_[at(e.inputs[i])] != 0);
    const auto& branches = e.params.get<CondParams>().branches;
    std::vector<Mask> depend;
    for (const GraphPtr& b : branches) depend.push_back(depends(*b, moving));
    for (size_t k = 0; k < e.outputs.size(); ++k) {
      const bool moves =
          std::any_of(depend.begin(), depend.end(), [&](const Mask& m) { return m[k]; });
      if (moves || g_.avals[at(e.outputs[k])].bytes() <= kSmall) continue;
      while (pick(e, branches, k)) continue;
    }
  }

  // Takes output k of e out of the residuals, if it is one and the index is one too.
  bool pick(const Equation& e, const std::vector<GraphPtr>& branches, size_t k) {
    const size_t n = residual(e.outputs[k]), index = residual(e.inputs[0]);
    if (n == kept_.size() || index == kept_.size()) return false;
    const Aval type = g_.avals[at(e.outputs[k])];
    Equation pick{&cond_p, {}, {places_[index]}, {places_[n]}, e.place};
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(n));
    places_.erase(places_.begin() + static_cast<ptrdiff_t>(n));
    CondParams picking;
    for (size_t b = 0; b < branches.size(); ++b) {
      Graph one;
      for (size_t i = 0; i < branches.size(); ++i) one.inputs.push_back(one.add_value(type));
      one.outputs = {one.inputs[b]};
      picking.branches.push_back(shared(std::move(one)));
      kept_.push_back(inlined(*branches[b], k, e));
      places_.push_back(linear_.add_value(type));
      pick.inputs.push_back(places_.back());
    }
    pick.params = Params::make(std::move(picking));
    picks_.push_back(std::move(pick));
    return true;
  }

  // Output k of a branch of e, computed in front of e.
  ValueId inlined(const Graph& branch, size_t k, const Equation& e) {
    Graph only = branch;
    only.outputs = {branch.outputs[k]};
    only = passes::dead_code(only);
    std::vector<ValueId> to(only.avals.size(), -1);
    for (size_t i = 0; i < only.inputs.size(); ++i) to[at(only.inputs[i])] = e.inputs[i + 1];
    const auto add = [&](ValueId v) {
      moves_.push_back(0);
      return to[at(v)] = g_.add_value(only.avals[at(v)]);
    };
    for (const Graph::Constant& c : only.constants) g_.constants.push_back({add(c.id), c.value});
    for (Equation& inner : only.equations) {
      for (ValueId& v : inner.inputs) v = to[at(v)];
      for (ValueId& v : inner.outputs) v = add(v);
      g_.equations.push_back(std::move(inner));
    }
    return to[at(only.outputs[0])];
  }

  Graph& g_;
  Graph& linear_;
  std::vector<uint8_t> moves_;   // by value of g_
  std::vector<ValueId> kept_;    // the residuals
  std::vector<ValueId> places_;  // what stands for them in linear_
  std::vector<Equation> picks_;
};

// Without the outputs of conds that nothing needs.
void drop_unused(Graph& g) {
  std::vector<uint8_t> used(g.avals.size(), 0);
  for (const Equation& e : g.equations) {
    for (const ValueId v : e.inputs) used[at(v)] = 1;
  }
  for (const ValueId v : g.outputs) used[at(v)] = 1;
  for (Equation& e : g.equations) {
    if (e.primitive != &cond_p) continue;
    std::vector<size_t> order;
    for (size_t k = 0; k < e.outputs.size(); ++k) {
      if (used[at(e.outputs[k])] != 0) order.push_back(k);
    }
    if (order.empty() || order.size() == e.outputs.size()) continue;
    e.outputs = reordered(e.outputs, order);
    CondParams p = e.params.get<CondParams>();
    for (GraphPtr& b : p.branches) {
      Graph branch = *b;
      branch.outputs = reordered(branch.outputs, order);
      b = shared(passes::dead_code(branch));
    }
    e.params = Params::make(std::move(p));
  }
}

}  // namespace

void pick_invariants(LinearBody& body, size_t outputs, const Mask& moving) {
  const size_t before = body.linear.equations.size();
  body.residuals = Picks(body, outputs, moving).run();
  if (body.linear.equations.size() > before) drop_unused(body.forward);
}

}  // namespace spruce::internal
