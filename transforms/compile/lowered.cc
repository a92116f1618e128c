// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/lowered.h"

#include <cstdio>
#include <ostream>

#include "spruce/transforms/compile/plan.h"

namespace spruce {

std::string MemoryAnalysis::text() const {
  std::string s;
  const auto line = [&](const char* what, int64_t bytes) {
    char text[64];
    std::snprintf(text, sizeof text, "%-12s %14lld bytes\n", what, static_cast<long long>(bytes));
    s += text;
  };
  line("arguments", arguments);
  line("results", results);
  line("donated", donated);
  line("constants", constants);
  line("temporaries", temporaries);
  line("workspace", workspace);
  line("peak", peak());
  return s;
}

std::ostream& operator<<(std::ostream& out, const MemoryAnalysis& analysis) {
  return out << analysis.text();
}

std::ostream& operator<<(std::ostream& out, const Lowered& lowered) {
  return out << lowered.text();
}

const Graph& Lowered::compiled_graph() const { return executor_->plan().graph(); }

CostAnalysis Lowered::cost() const { return analyze_cost(compiled_graph()); }

MemoryAnalysis Lowered::memory() const {
  const internal::Plan& plan = executor_->plan();
  const Graph& g = plan.graph();
  const auto bytes = [&](ValueId v) { return g.avals[static_cast<size_t>(v)].bytes(); };
  MemoryAnalysis m;
  for (const ValueId v : g.inputs) m.arguments += bytes(v);
  for (const Graph::Constant& c : g.constants) m.constants += bytes(c.id);
  for (size_t k = 0; k < g.outputs.size(); ++k) {
    const internal::Plan::Result& r = plan.results()[k];
    if (r.from != internal::Plan::Result::From::kOwn) continue;
    m.results += bytes(g.outputs[k]);
    if (r.donor >= 0) m.donated += bytes(g.outputs[k]);
  }
  m.temporaries = static_cast<int64_t>(plan.temporary_bytes());
  m.workspace = static_cast<int64_t>(plan.workspace_bytes());
  return m;
}

}  // namespace spruce
