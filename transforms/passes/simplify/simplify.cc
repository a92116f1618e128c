// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rules.h"

namespace spruce::passes {
namespace {

// Two are enough for nearly all programs, and the second of them finds nothing.
constexpr int kMostRounds = 4;

ValueId simpler(Rewriter& r, const Equation& e) {
  for (const Rule rule : {arithmetic_rule, data_movement_rule, reduction_rule}) {
    const ValueId v = rule(r, e);
    if (v != kNone) return v;
  }
  return kNone;
}

}  // namespace

Graph simplify(Graph graph) {
  for (int round = 0; round < kMostRounds; ++round) {
    graph = constant_folding(std::move(graph));
    Rewriter r(std::move(graph), simpler);
    graph = r.run(round == 0 ? simplify : nullptr);
    if (r.replaced() == 0) break;
  }
  return graph;
}

}  // namespace spruce::passes
