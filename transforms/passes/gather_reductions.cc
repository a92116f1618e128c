// SPDX-License-Identifier: Apache-2.0
// Reductions of gathered rows read them where they stand. Exact.
#include "spruce/core/cpu/gather_reduce.h"
#include "spruce/core/rules/reduce.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

ValueId joined(Rewriter& r, const Equation& e) {
  if (e.primitive->kind != PrimitiveKind::kReduction) return kNone;
  const ValueId x = e.inputs[0];
  const Equation* gather = r.source(x, gather_p);
  if (gather == nullptr || r.uses(x) > 1) return kNone;
  const auto& g = gather->params.get<GatherParams>();
  const Axes& axes = e.params.get<ReduceParams>().axes;
  if (!cpu::reduces_rows(g, r.shape(gather->inputs[0]), r.shape(x), axes)) return kNone;
  return r.emit(gather_reduce_p, Params::make(GatherReduceParams::of(e.primitive->name, axes, g)),
                gather->inputs);
}

}  // namespace

Graph gather_reductions(Graph graph) {
  return rewrite(std::move(graph), joined, gather_reductions);
}

}  // namespace spruce::passes
