// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/loops/scan_parts.h"

#include <algorithm>

#include "spruce/core/graph/build.h"
#include "spruce/transforms/passes/effects.h"

namespace spruce::passes {

ScanParts::ScanParts(const Equation& e) : params(e.params.get<ScanParams>()), place(e.place) {
  body = *params.body;
  params.body = nullptr;
  const auto first_carry = static_cast<size_t>(params.consts),
             carried = static_cast<size_t>(params.carry);
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    if (i < first_carry)
      consts.push_back({e.inputs[i], body.inputs[i]});
    else if (i < first_carry + carried)
      carry.push_back(
          {e.inputs[i], body.inputs[i], body.outputs[i - first_carry], e.outputs[i - first_carry]});
    else
      xs.push_back({e.inputs[i], body.inputs[i]});
  }
  for (size_t k = carried; k < e.outputs.size(); ++k) ys.push_back({e.outputs[k], body.outputs[k]});
}

Equation ScanParts::equation() const {
  Equation e;
  e.primitive = &scan_p;
  e.place = place;
  Graph g = body;
  g.inputs.clear();
  g.outputs.clear();
  const auto input = [&](ValueId outside, ValueId inside) {
    e.inputs.push_back(outside);
    g.inputs.push_back(inside);
  };
  const auto output = [&](ValueId outside, ValueId inside) {
    e.outputs.push_back(outside);
    g.outputs.push_back(inside);
  };
  for (const Operand& c : consts) input(c.outside, c.inside);
  for (const Carry& c : carry) {
    input(c.init, c.before);
    output(c.last, c.after);
  }
  for (const Operand& x : xs) input(x.outside, x.inside);
  for (const Operand& y : ys) output(y.outside, y.inside);
  ScanParams p = params;
  p.consts = static_cast<int64_t>(consts.size());
  p.carry = static_cast<int64_t>(carry.size());
  p.body = std::make_shared<const Graph>(std::move(g));
  e.params = Params::make(std::move(p));
  return e;
}

void ScanParts::replace(ValueId old, ValueId by) {
  for (Equation& e : body.equations) std::replace(e.inputs.begin(), e.inputs.end(), old, by);
  for (Carry& c : carry) c.after = c.after == old ? by : c.after;
  for (Operand& y : ys) y.inside = y.inside == old ? by : y.inside;
}

Graph rewrite_scans(Graph graph, void (*pass)(ScanParts&, Outside&), Graph (*whole)(Graph)) {
  std::vector<uint8_t> used(graph.avals.size(), 0);
  for (const Equation& e : graph.equations) {
    for (const ValueId v : e.inputs) used[static_cast<size_t>(v)] = 1;
  }
  for (const ValueId v : graph.outputs) used[static_cast<size_t>(v)] = 1;
  return rebuild(std::move(graph), [&](Graph& out, Equation e, std::vector<ValueId>& renamed) {
    const bool loop = e.primitive == &scan_p;
    if (loop || e.primitive == &while_loop_p || e.primitive == &cond_p) {
      e.params = e.params.map_graphs(
          [&](const GraphPtr& g) { return std::make_shared<const Graph>(whole(*g)); });
    }
    if (!loop) {
      out.equations.push_back(std::move(e));
      return;
    }
    if (has_effect(e)) {
      out.equations.push_back(std::move(e));
      return;
    }
    ScanParts scan(e);
    Outside outside{renamed, used};
    pass(scan, outside);
    // Without outputs it has nothing to do.
    if (!scan.carry.empty() || !scan.ys.empty()) out.equations.push_back(scan.equation());
  });
}

}  // namespace spruce::passes
