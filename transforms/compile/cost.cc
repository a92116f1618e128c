// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/cost.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <string_view>

#include "spruce/core/graph/build.h"
#include "spruce/core/graph/print.h"
#include "spruce/transforms/rules/control_primitives.h"

namespace spruce {
namespace {

Cost total_of(const Graph& graph);

// What the graphs within an equation cost, as often as they run.
Cost nested_cost(const Equation& e) {
  Cost sum;
  if (e.primitive == &scan_p) {
    const auto& p = e.params.get<ScanParams>();
    return static_cast<double>(p.length) * total_of(*p.body);
  }
  if (e.primitive == &cond_p) {
    for (const GraphPtr& branch : e.params.get<CondParams>().branches) {
      const Cost c = total_of(*branch);
      const auto bytes = [](const Cost& x) { return x.bytes_read + x.bytes_written; };
      if (c.flops > sum.flops || (c.flops == sum.flops && bytes(c) > bytes(sum))) sum = c;
    }
    return sum;
  }
  e.params.base()->visit_graphs([&](const GraphPtr& g) {
    if (g != nullptr) sum += total_of(*g);
  });
  return sum;
}

bool has_graphs(const Equation& e) {
  bool found = false;
  if (!e.params.empty())
    e.params.base()->visit_graphs([&](const GraphPtr& g) { found = found || g != nullptr; });
  return found;
}

Cost cost_of(const Graph& graph, const Equation& e) {
  const Primitive& p = *e.primitive;
  const auto bytes = [&](ValueId v) {
    return static_cast<double>(graph.avals[static_cast<size_t>(v)].bytes());
  };
  Cost c;
  for (const ValueId v : e.outputs) c.bytes_written += bytes(v);
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    const ValueId v = e.inputs[i];
    // A value that stands twice among the inputs is read once.
    if (std::find(e.inputs.begin(), e.inputs.begin() + static_cast<std::ptrdiff_t>(i), v) !=
        e.inputs.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    c.bytes_read += i == 0 && p.reads_part ? std::min(bytes(v), c.bytes_written) : bytes(v);
  }
  if (has_graphs(e)) {
    const Cost inner = nested_cost(e);
    if (p.call != nullptr) return inner;
    c.flops = inner.flops;
    return c;
  }
  if (p.kind == PrimitiveKind::kView) return {};
  if (p.flops != nullptr) {
    c.flops = p.flops({types_of(graph, e.inputs), types_of(graph, e.outputs), e.params});
  } else {
    const auto& per =
        p.kind == PrimitiveKind::kReduction && !e.inputs.empty() ? e.inputs : e.outputs;
    if (!per.empty())
      c.flops = static_cast<double>(graph.avals[static_cast<size_t>(per[0])].shape.numel());
  }
  return c;
}

Cost total_of(const Graph& graph) {
  Cost sum;
  for (const Equation& e : graph.equations) sum += cost_of(graph, e);
  return sum;
}

// 12, 3.4k, 1.25M
std::string amount(double x) {
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T", "P"}) {
    if (x < 1000) break;
    x /= 1000;
    unit = next;
  }
  char text[32];
  std::snprintf(text, sizeof text, *unit == '\0' ? "%.0f%s" : "%.3g%s", x, unit);
  return text;
}

std::string line(const Cost& c, const std::string& what) {
  char text[64];
  std::snprintf(text, sizeof text, "%9s %9s %9s  ", amount(c.flops).c_str(),
                amount(c.bytes_read).c_str(), amount(c.bytes_written).c_str());
  return text + what + "\n";
}

}  // namespace

CostAnalysis analyze_cost(const Graph& graph) {
  CostAnalysis a;
  for (const Equation& e : graph.equations) {
    a.rows.push_back({internal::equation_summary(graph, e), e.place, cost_of(graph, e)});
    a.total += a.rows.back().cost;
  }
  return a;
}

std::string CostAnalysis::text(size_t most) const {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t k) {
    const Cost &a = rows[i].cost, &b = rows[k].cost;
    if (a.flops != b.flops) return a.flops > b.flops;
    return a.bytes_read + a.bytes_written > b.bytes_read + b.bytes_written;
  });
  std::string s = "    flops      read   written\n";
  for (size_t i = 0; i < order.size() && i < most; ++i) {
    const Row& r = rows[order[i]];
    s += line(r.cost, r.equation + (r.place.empty() ? "" : "  at " + r.place));
  }
  if (order.size() > most) {
    Cost rest;
    for (size_t i = most; i < order.size(); ++i) rest += rows[order[i]].cost;
    s += line(rest, std::to_string(order.size() - most) + " others");
  }
  return s + line(total, "in all");
}

std::ostream& operator<<(std::ostream& out, const CostAnalysis& analysis) {
  return out << analysis.text();
}

}  // namespace spruce
