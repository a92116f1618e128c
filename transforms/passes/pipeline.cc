// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/pipeline.h"

#include <algorithm>
#include <string>
#include <vector>

#include "spruce/core/environment.h"
#include "spruce/transforms/passes/compile_log.h"
#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/graph_log.h"

namespace spruce::passes {
namespace {

// docs/passes.md says why they stand in this order.
constexpr Pass kPasses[] = {
    {"inline_calls", inline_calls, Pass::kNeeded},
    {"order_effects", order_effects, Pass::kNeeded},
    {"expand_composites", expand_composites, Pass::kNeeded},
    {"drop_weak_types", drop_weak_types, Pass::kNeeded},
    {"common_subexpressions", common_subexpressions},
    {"dead_code", dead_code},
    {"simplify_scans", simplify_scans},
    {"simplify", simplify},
    {"pads_to_concatenate", pads_to_concatenate},
    {"scatter_to_select", scatter_to_select},
    {"fold_transposes", fold_transposes},
    {"loop_invariants", loop_invariants},
    {"while_invariants", while_invariants},
    {"drop_broadcasts", drop_broadcasts},
    {"simplify", simplify},
    {"fold_transposes", fold_transposes},
    {"rematerialize_residuals", rematerialize_residuals},
    {"unroll_scans", unroll_scans},
    {"narrow_transposes", narrow_transposes},
    {"common_subexpressions", common_subexpressions},
    {"dead_code", dead_code},
    {"flatten_gathers", flatten_gathers},
    {"wrap_indices", wrap_indices},
    {"gather_reductions", gather_reductions},
    {"dead_code", dead_code},
    {"push_slices_up", push_slices_up},
    {"fuse", fuse},
    {"tiny", tiny},
    {"row_blocks", row_blocks},
    {"schedule", schedule},
};

bool switched_off(const Pass& pass) {
  static const auto& off = *new std::vector<std::string>([] {
    std::vector<std::string> known;
    for (const Pass& p : kPasses) {
      const std::string value = std::string("-") + p.name;
      if (p.need != Pass::kNeeded && std::find(known.begin(), known.end(), value) == known.end())
        known.push_back(value);
    }
    return internal::environment_list("SPRUCE_PASSES", known);
  }());
  return !off.empty() &&
         std::find(off.begin(), off.end(), std::string("-") + pass.name) != off.end();
}

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

Graph optimize(Graph graph) {
  std::string text = internal::log_graph("staged", graph, "");
  for (const Pass& pass : kPasses) {
    if (switched_off(pass)) continue;
    const internal::CompilePhase phase(pass.name);
    graph = pass.run(std::move(graph));
    phase.done(graph);
    text = internal::log_graph(pass.name, graph, std::move(text));
#ifndef NDEBUG
    check(graph, Loc::none());
#endif
  }
  return graph;
}

}  // namespace spruce::passes
