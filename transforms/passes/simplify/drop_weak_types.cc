// SPDX-License-Identifier: Apache-2.0
// Weak types matter while dtypes are chosen. Without them x * 1 and x have one type, and rewriting
// needs no care.
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

Graph all_strong(Graph graph) {
  for (Aval& a : graph.avals) a.weak = false;
  for (Graph::Constant& c : graph.constants) {
    if (!c.value.weak() || c.value.is_tracer()) continue;
    Aval strong = c.value.aval();
    strong.weak = false;
    c.value =
        Array(Ref<internal::ArrayImpl>(new internal::ArrayImpl(strong, c.value.impl()->buffer)));
  }
  for (Equation& e : graph.equations) {
    if (e.primitive == &convert_element_type_p && e.params.get<ConvertParams>().weak)
      e.params = Params::make(ConvertParams{e.params.get<ConvertParams>().dtype, false});
    if (has_bodies(e)) e.params = map_graphs(e.params, all_strong);
  }
  return graph;
}

}  // namespace

Graph drop_weak_types(Graph graph) {
  for (const Graph::Constant& c : graph.constants) {
    if (c.value.is_tracer() && c.value.weak()) return graph;
  }
  std::vector<Aval> types;  // of the outputs
  for (const ValueId v : graph.outputs) types.push_back(graph.avals[static_cast<size_t>(v)]);
  Graph out = all_strong(std::move(graph));
  for (size_t k = 0; k < types.size(); ++k) {
    const Aval& type = types[k];
    ValueId& v = out.outputs[k];
    if (!type.weak) continue;
    Equation e{&convert_element_type_p, Params::make(ConvertParams{type.dtype, true}), {v}, {}, ""};
    v = out.add_value(type);
    e.outputs = {v};
    out.equations.push_back(std::move(e));
  }
  return out;
}

}  // namespace spruce::passes
