// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/pipeline.h"

#include "spruce/transforms/compile_log.h"

namespace spruce::passes {
namespace {

constexpr Pass kPasses[] = {
    {"inline_calls", inline_calls},
    {"expand_composites", expand_composites},
    {"settle_types", settle_types},
    {"common_subexpressions", common_subexpressions},
    {"dead_code", dead_code},
    {"scan_tidy", scan_tidy},
    {"constant_folding", constant_folding},
    {"algebra", algebra},
    {"movement", movement},
    {"reductions", reductions},
    {"joins", joins},
    {"one_hot", one_hot},
    {"layout", layout},
    {"loop_invariants", loop_invariants},
    {"while_invariants", while_invariants},
    {"broadcasts", broadcasts},
    {"constant_folding", constant_folding},
    {"algebra", algebra},
    {"movement", movement},
    {"reductions", reductions},
    {"layout", layout},
    {"scan_residuals", scan_residuals},
    {"scan_unroll", scan_unroll},
    {"common_subexpressions", common_subexpressions},
    {"dead_code", dead_code},
    {"heads", heads},
    {"dead_code", dead_code},
    {"slices", slices},
    {"fuse", fuse},
    {"tiny", tiny},
    {"row_blocks", row_blocks},
    {"schedule", schedule},
};

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

Graph optimize(const Graph& graph) {
  Graph out = graph;
  for (const Pass& pass : kPasses) {
    const internal::CompilePhase phase(pass.name);
    out = pass.run(out);
    phase.done(out);
#ifndef NDEBUG
    check(out, Loc::none());
#endif
  }
  return out;
}

}  // namespace spruce::passes
