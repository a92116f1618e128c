// SPDX-License-Identifier: Apache-2.0
// The elementwise passes of optimizers, as the operations that they are made of: what is the same
// for all elements is then computed once. And logaddexp, whose parts the code generator knows, and
// the tangent of attention, which is nothing but its parts.
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/attention.h"
#include "spruce/core/rules/optimizer.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/stage.h"

namespace spruce::passes {
namespace {

// In 16 bits the parts of an elementwise composite would round where it does not.
bool is_divided(const Rewriter& r, const Equation& e) {
  if (e.primitive == &attention_tangent_p) return true;
  if (e.primitive != &adam_direction_p && e.primitive != &scaled_add_p &&
      e.primitive != &logaddexp_p)
    return false;
  const Aval& out = r.aval(e.inputs[0]);
  return out.numel() > 0 && size_of(out.dtype) >= 4;
}

ValueId parts(Rewriter& r, const Equation& e) {
  if (!is_divided(r, e)) return kNone;
  std::vector<const Aval*> types;
  for (const ValueId v : e.inputs) types.push_back(&r.aval(v));
  const Aval out = output_avals(*e.primitive, types, e.params)[0];
  internal::StageInterpreter stage("jit");
  std::vector<Array> in, results;
  for (const ValueId v : e.inputs) in.push_back(stage.input(r.aval(v)));
  {
    const InterpreterScope scope(&stage);
    results = e.primitive->expand(in, e.params);
  }
  if (!(results[0].aval() == out)) return kNone;
  stage.output(results[0]);
  const Graph g = stage.take();
  std::vector<ValueId> renamed(g.avals.size(), kNone);
  for (size_t i = 0; i < g.inputs.size(); ++i)
    renamed[static_cast<size_t>(g.inputs[i])] = e.inputs[i];
  for (const Graph::Constant& c : g.constants)
    renamed[static_cast<size_t>(c.id)] = r.add_constant(c.value);
  for (const Equation& part : g.equations) {
    std::vector<ValueId> from;
    for (const ValueId v : part.inputs) from.push_back(renamed[static_cast<size_t>(v)]);
    renamed[static_cast<size_t>(part.outputs[0])] =
        r.emit(*part.primitive, part.params, std::move(from));
  }
  return renamed[static_cast<size_t>(g.outputs[0])];
}

}  // namespace

Graph expand_composites(const Graph& graph) { return rewrite(graph, parts, expand_composites); }

}  // namespace spruce::passes
