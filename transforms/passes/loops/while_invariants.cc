// SPDX-License-Identifier: Apache-2.0
// What a while loop does at each step and need not: a carry that no step changes becomes a
// constant, and work on constants alone moves in front of the loop.
#include <algorithm>

#include "spruce/core/graph/build.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/loops/hoist.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce::passes {
namespace {

using internal::at;

// One graph of a loop: its inputs are the constants, whose values outside are `outside`, and the
// carry.
struct Part {
  Graph body;
  std::vector<ValueId> outside;

  std::vector<ValueId> carry() const {
    return {body.inputs.begin() + static_cast<ptrdiff_t>(outside.size()), body.inputs.end()};
  }

  // Makes carry k, which is `value` outside, one more constant.
  void settle(size_t k, ValueId value) {
    const auto first = body.inputs.begin() + static_cast<ptrdiff_t>(outside.size());
    std::rotate(first, first + static_cast<ptrdiff_t>(k), first + static_cast<ptrdiff_t>(k) + 1);
    outside.push_back(value);
  }

  // Moves into `out` what the constants alone determine. A loop within stays: it need not end where
  // no step asks for it.
  void hoist(Graph& out) {
    std::vector<ValueId> outer(body.avals.size(), kNone);
    std::vector<uint8_t> constant(body.avals.size(), 0), wanted(body.avals.size(), 0);
    for (size_t i = 0; i < outside.size(); ++i) {
      outer[at(body.inputs[i])] = outside[i];
      constant[at(body.inputs[i])] = 1;
    }
    for (const Graph::Constant& c : body.constants) constant[at(c.id)] = 1;
    std::vector<Equation> stay;
    std::vector<ValueId> moved;
    for (const Equation& e : body.equations) {
      const bool settled =
          !has_bodies(e) &&
          std::all_of(e.inputs.begin(), e.inputs.end(), [&](ValueId v) { return constant[at(v)]; });
      for (const ValueId v : e.outputs) constant[at(v)] = settled ? 1 : 0;
      if (!settled || is_free_in_loops(e)) {
        stay.push_back(e);
        continue;
      }
      for (const ValueId v : e.outputs) wanted[at(v)] = 1;
      moved.insert(moved.end(), e.outputs.begin(), e.outputs.end());
    }
    if (moved.empty()) return;
    move_out(out, body, std::move(wanted), outer);
    body.equations = std::move(stay);
    const std::vector<ValueId> carried = carry();
    body.inputs.resize(outside.size());
    for (const ValueId v : moved) {
      body.inputs.push_back(v);
      outside.push_back(outer[at(v)]);
    }
    body.inputs.insert(body.inputs.end(), carried.begin(), carried.end());
  }

  // Constants that nothing reads go.
  void tidy() {
    body = outermost_dead_code(body);
    std::vector<uint8_t> used(body.avals.size(), 0);
    for (const Equation& e : body.equations) {
      for (const ValueId v : e.inputs) used[at(v)] = 1;
    }
    for (const ValueId v : body.outputs) used[at(v)] = 1;
    const std::vector<ValueId> inputs = std::move(body.inputs), values = std::move(outside);
    body.inputs.clear(), outside.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i < values.size() && used[at(inputs[i])] == 0) continue;
      body.inputs.push_back(inputs[i]);
      if (i < values.size()) outside.push_back(values[i]);
    }
  }
};

void put(Graph& out, const Equation& e, std::vector<ValueId>& renamed) {
  WhileParams p = e.params.get<WhileParams>();
  const auto begin = e.inputs.begin(), mid = begin + static_cast<ptrdiff_t>(p.condition_consts),
             first = mid + static_cast<ptrdiff_t>(p.body_consts);
  Part condition{*p.condition, {begin, mid}}, body{*p.body, {mid, first}};
  std::vector<ValueId> carry(first, e.inputs.end());
  Equation loop = e;
  for (size_t k = carry.size(); k-- > 0;) {
    if (body.body.outputs[k] != body.carry()[k]) continue;
    const auto place = static_cast<ptrdiff_t>(k);
    condition.settle(k, carry[k]);
    body.settle(k, carry[k]);
    renamed[at(loop.outputs[k])] = carry[k];
    carry.erase(carry.begin() + place);
    body.body.outputs.erase(body.body.outputs.begin() + place);
    loop.outputs.erase(loop.outputs.begin() + place);
  }
  condition.hoist(out);
  body.hoist(out);
  condition.tidy();
  body.tidy();
  p.condition_consts = static_cast<int64_t>(condition.outside.size());
  p.body_consts = static_cast<int64_t>(body.outside.size());
  p.condition = std::make_shared<const Graph>(std::move(condition.body));
  p.body = std::make_shared<const Graph>(std::move(body.body));
  loop.params = Params::make(std::move(p));
  loop.inputs = std::move(condition.outside);
  loop.inputs.insert(loop.inputs.end(), body.outside.begin(), body.outside.end());
  loop.inputs.insert(loop.inputs.end(), carry.begin(), carry.end());
  if (!loop.outputs.empty()) out.equations.push_back(std::move(loop));
}

}  // namespace

Graph while_invariants(Graph graph) {
  if (!has_bodies(graph)) return graph;
  return rebuild(std::move(graph), [](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    if (has_bodies(e)) e.params = map_graphs(e.params, while_invariants);
    if (e.primitive == &while_loop_p && !has_effect(e))
      put(out, e, renamed);
    else
      out.equations.push_back(std::move(e));
  });
}

}  // namespace spruce::passes
