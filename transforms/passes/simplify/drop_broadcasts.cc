// SPDX-License-Identifier: Apache-2.0
// Elementwise operations broadcast by themselves: a repetition that they undo by their own rules
// goes away. Exact.
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/simplify/match.h"

namespace spruce::passes {
namespace {

// What v repeats, if NumPy's rules repeat it likewise; else v.
ValueId repeated(const Rewriter& r, ValueId v) {
  const Equation* b = r.source(v, broadcast_in_dim_p);
  if (b == nullptr) return v;
  const Axes& dims = b->params.get<BroadcastInDimParams>().broadcast_dimensions;
  const int behind = r.shape(v).rank() - dims.rank();
  for (int i = 0; i < dims.rank(); ++i) {
    if (dims[i] != i + behind) return v;
  }
  return b->inputs[0];
}

ValueId without_broadcasts(Rewriter& r, const Equation& e) {
  if (e.primitive->kind != PrimitiveKind::kElementwise || e.inputs.empty()) return kNone;
  // Composites of several inputs take them as they are.
  if (e.primitive->expand != nullptr && e.inputs.size() > 1) return kNone;
  const Shape shape = broadcast_shape(r, e);
  std::vector<ValueId> in;
  for (const ValueId v : e.inputs) in.push_back(repeated(r, v));
  if (in == e.inputs) return kNone;
  // Where all inputs are repeated, what is computed is less, and the result is repeated.
  return fit(r, r.emit(*e.primitive, e.params, in), shape);
}

}  // namespace

Graph drop_broadcasts(Graph graph) {
  return rewrite(std::move(graph), without_broadcasts, drop_broadcasts);
}

}  // namespace spruce::passes
