// SPDX-License-Identifier: Apache-2.0
// Composites whose parts fusion knows, as the operations that they are made of: logaddexp,
// nan_outside, and what has no kernel.
#include "spruce/core/ops/binary.h"
#include "spruce/core/rules/nan_outside.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"
#include "spruce/transforms/stage/stage.h"

namespace spruce::passes {
namespace {

ValueId parts(Rewriter& r, const Equation& e) {
  const bool no_kernel = e.primitive->call != nullptr && e.primitive->call == e.primitive->expand;
  const bool always = no_kernel || e.primitive == &nan_outside_p;
  if (!always && e.primitive != &logaddexp_p) return kNone;
  std::vector<const Aval*> types;
  for (const ValueId v : e.inputs) types.push_back(&r.aval(v));
  const Aval out = output_avals(*e.primitive, types, e.params)[0];
  // In 16 bits the parts would round where the composite does not.
  if (!always && (out.numel() == 0 || size_of(out.dtype) < 4)) return kNone;
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

Graph expand_composites(Graph graph) { return rewrite(std::move(graph), parts, expand_composites); }

}  // namespace spruce::passes
