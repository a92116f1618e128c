// SPDX-License-Identifier: Apache-2.0
// What a branch within a loop keeps for reverse mode and makes out of constants of the loop alone,
// the weights say: it is computed once, in front of the loop, for all branches. The linear part of
// each step then picks the one of the branch that was taken, so that a step need not keep it.
#include <algorithm>
#include <optional>

#include "spruce/transforms/control/branches/cond_rules.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::internal {
namespace {

constexpr int64_t kSmall = 64;  // bytes that are kept in less time than they are picked

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

class InvariantResiduals {
 public:
  InvariantResiduals(LinearBody& body, size_t outputs, const Mask& moving)
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

  // A branch of `at`, an equation of `outer`, or of g_ where that is null.
  struct Frame {
    const Graph& graph;
    const Equation& at;
    const Frame* outer;
    std::vector<uint8_t> moves;
  };
  bool moves(const Frame* f, ValueId v) const {
    return (f == nullptr ? moves_ : f->moves)[at(v)] != 0;
  }

  // An argument of a pick: a value to be picked, or an index and what it chooses from.
  struct Choice {
    size_t arg;
    std::vector<Choice> branches;
  };

  void take_out(const Equation& e) {
    for (size_t k = 0; k < e.outputs.size(); ++k) {
      if (g_.avals[at(e.outputs[k])].bytes() <= kSmall) continue;
      while (pick(e, k)) continue;
    }
  }

  // Takes output k of e out of the residuals, if it is one that can be picked.
  bool pick(const Equation& e, size_t k) {
    const size_t n = residual(e.outputs[k]), before = kept_.size();
    if (n == before) return false;
    std::vector<ValueId> args;
    const std::optional<Choice> choice = choose(nullptr, e, k, args);
    if (!choice) {
      kept_.resize(before);
      places_.resize(before);
      return false;
    }
    std::vector<Aval> types;
    for (const ValueId v : args) types.push_back(linear_.avals[at(v)]);
    picks_.push_back(equation(*choice, args, types, places_[n], g_.avals[at(e.outputs[k])]));
    picks_.back().place = e.place;
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(n));
    places_.erase(places_.begin() + static_cast<ptrdiff_t>(n));
    return true;
  }

  // How output k of e, an equation of that frame, is chosen from what does not move; appends to
  // `args` what is needed of the linear part. Nothing where it moves in some branch.
  std::optional<Choice> choose(const Frame* f, const Equation& e, size_t k,
                               std::vector<ValueId>& args) {
    const ValueId index = moves(f, e.inputs[0]) ? place(f, e.inputs[0]) : keep(f, e.inputs[0]);
    if (index < 0) return std::nullopt;
    Choice choice{args.size(), {}};
    args.push_back(index);
    Mask moving;
    for (size_t i = 1; i < e.inputs.size(); ++i) moving.push_back(moves(f, e.inputs[i]));
    for (const GraphPtr& b : e.params.get<CondParams>().branches) {
      const Frame inner{*b, e, f, moved(*b, moving)};
      const ValueId v = b->outputs[k];
      if (!moves(&inner, v)) {
        choice.branches.push_back({args.size(), {}});
        args.push_back(keep(&inner, v));
        continue;
      }
      const auto has = [&](const Equation& q) {
        return q.primitive == &cond_p &&
               std::find(q.outputs.begin(), q.outputs.end(), v) != q.outputs.end();
      };
      const auto q = std::find_if(b->equations.begin(), b->equations.end(), has);
      if (q == b->equations.end()) return std::nullopt;
      const auto from = std::find(q->outputs.begin(), q->outputs.end(), v) - q->outputs.begin();
      std::optional<Choice> within = choose(&inner, *q, static_cast<size_t>(from), args);
      if (!within) return std::nullopt;
      choice.branches.push_back(std::move(*within));
    }
    return choice;
  }

  // What stands in the linear part for a value of that frame, if it is among the residuals.
  ValueId place(const Frame* f, ValueId v) const {
    if (f == nullptr) {
      const size_t n = residual(v);
      return n == kept_.size() ? -1 : places_[n];
    }
    for (size_t k = 0; k < f->graph.outputs.size(); ++k) {
      const ValueId p = f->graph.outputs[k] == v ? place(f->outer, f->at.outputs[k]) : -1;
      if (p >= 0) return p;
    }
    return -1;
  }

  // Makes a value that does not move a residual; returns what stands for it in the linear part.
  ValueId keep(const Frame* f, ValueId v) {
    kept_.push_back(inlined(f, v));
    places_.push_back(linear_.add_value(g_.avals[at(kept_.back())]));
    return places_.back();
  }

  // A value of that frame that does not move, computed in g_.
  ValueId inlined(const Frame* f, ValueId v) {
    if (f == nullptr) return v;
    Graph only = f->graph;
    only.outputs = {v};
    only = passes::outermost_dead_code(passes::without_effects(std::move(only)));
    std::vector<uint8_t> used(only.avals.size(), 0);
    used[at(only.outputs[0])] = 1;
    for (const Equation& e : only.equations) {
      for (const ValueId in : e.inputs) used[at(in)] = 1;
    }
    std::vector<ValueId> to(only.avals.size(), -1);
    for (size_t i = 0; i < only.inputs.size(); ++i) {
      if (used[at(only.inputs[i])] != 0)
        to[at(only.inputs[i])] = inlined(f->outer, f->at.inputs[i + 1]);
    }
    const auto add = [&](ValueId x) {
      moves_.push_back(0);
      return to[at(x)] = g_.add_value(only.avals[at(x)]);
    };
    for (const Graph::Constant& c : only.constants) g_.constants.push_back({add(c.id), c.value});
    for (Equation& inner : only.equations) {
      for (ValueId& x : inner.inputs) x = to[at(x)];
      for (ValueId& x : inner.outputs) x = add(x);
      g_.equations.push_back(std::move(inner));
    }
    return to[at(only.outputs[0])];
  }

  // The cond that makes this choice among arguments of those types.
  static Equation equation(const Choice& choice, const std::vector<ValueId>& args,
                           const std::vector<Aval>& types, ValueId out, const Aval& type) {
    CondParams p;
    for (const Choice& branch : choice.branches) {
      Graph g;
      for (const Aval& t : types) g.inputs.push_back(g.add_value(t));
      g.outputs = {g.inputs[branch.arg]};
      if (!branch.branches.empty()) {
        g.outputs = {g.add_value(type)};
        g.equations.push_back(equation(branch, g.inputs, types, g.outputs[0], type));
      }
      p.branches.push_back(std::make_shared<const Graph>(std::move(g)));
    }
    Equation e{&cond_p, Params::make(std::move(p)), {args[choice.arg]}, {out}, {}};
    e.inputs.insert(e.inputs.end(), args.begin(), args.end());
    return e;
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
      branch = passes::outermost_dead_code(branch);
      drop_unused(branch);
      b = std::make_shared<const Graph>(std::move(branch));
    }
    e.params = Params::make(std::move(p));
  }
}

}  // namespace

void pick_invariants(LinearBody& body, size_t outputs, const Mask& moving) {
  const size_t before = body.linear.equations.size();
  body.residuals = InvariantResiduals(body, outputs, moving).run();
  if (body.linear.equations.size() > before) drop_unused(body.forward);
}

}  // namespace spruce::internal
