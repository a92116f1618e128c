// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/default_device.h"
#include "spruce/core/graph/arity.h"
#include "spruce/core/graph/graph.h"
#include "spruce/core/graph/print.h"

namespace spruce {
namespace {

[[noreturn]] void fail(const Graph& graph, size_t n, const std::string& what) {
  throw GraphError("check: equation " + std::to_string(n) + ", `" +
                   internal::equation_text(graph, graph.equations[n]) + "`: " + what);
}

}  // namespace

void check(const Graph& graph, Loc loc) {
  const LocScope at(loc);
  const auto size = static_cast<ValueId>(graph.avals.size());
  std::vector<uint8_t> defined(graph.avals.size(), 0);
  const auto define = [&](ValueId v, const char* what) {
    if (v < 0 || v >= size)
      throw GraphError(std::string("check: ") + what + " has the number " + std::to_string(v) +
                       " of no value");
    if (defined[static_cast<size_t>(v)])
      throw GraphError(std::string("check: ") + what + " " + internal::value_name(v) +
                       " is defined twice");
    defined[static_cast<size_t>(v)] = 1;
  };
  for (const ValueId v : graph.inputs) {
    define(v, "input");
    const Aval& aval = graph.avals[static_cast<size_t>(v)];
    check_shape("check", aval.shape, size_of(aval.dtype));
  }
  for (const Graph::Constant& c : graph.constants) {
    define(c.id, "constant");
    if (!c.value.defined())
      throw GraphError("check: constant " + internal::value_name(c.id) + " has no value");
    if (!(c.value.aval() == graph.avals[static_cast<size_t>(c.id)])) {
      throw GraphError("check: constant " + internal::value_name(c.id) + " is " +
                       to_string(c.value.aval()) + ", its value says " +
                       to_string(graph.avals[static_cast<size_t>(c.id)]));
    }
  }
  std::vector<const Aval*> types;
  for (size_t n = 0; n < graph.equations.size(); ++n) {
    const Equation& e = graph.equations[n];
    if (e.primitive == nullptr)
      throw GraphError("check: equation " + std::to_string(n) + " has no primitive");
    types.clear();
    for (const ValueId v : e.inputs) {
      if (v < 0 || v >= size || !defined[static_cast<size_t>(v)])
        fail(graph, n, "input " + internal::value_name(v) + " is not defined before it");
      types.push_back(&graph.avals[static_cast<size_t>(v)]);
    }
    const std::string problem = internal::arity_problem(*e.primitive, e.inputs.size(), e.params);
    if (!problem.empty()) fail(graph, n, e.primitive->name + (" " + problem));
    // Rules take the graphs in their parameters for granted.
    if (!e.params.empty()) {
      e.params.base()->visit_graphs([](const GraphPtr& g) {
        if (g != nullptr) check(*g, Loc::none());
      });
    }
    const DefaultDevice here(internal::device_of(graph, e));
    const std::vector<Aval> results = output_avals(*e.primitive, types, e.params);
    if (results.size() != e.outputs.size()) {
      fail(graph, n,
           "has " + std::to_string(e.outputs.size()) + " outputs, the primitive gives " +
               std::to_string(results.size()));
    }
    for (size_t k = 0; k < results.size(); ++k) {
      define(e.outputs[k], "output");
      const Aval& says = graph.avals[static_cast<size_t>(e.outputs[k])];
      Aval gives = results[k];
      if (!internal::is_placed(gives)) gives.device = says.device;  // a number goes along
      if (!(says == gives))
        fail(graph, n,
             "its output is " + to_string(results[k]) + ", the value says " + to_string(says));
    }
  }
  for (const ValueId v : graph.outputs) {
    if (v < 0 || v >= size || !defined[static_cast<size_t>(v)])
      throw GraphError("check: output " + internal::value_name(v) + " is not defined");
  }
}

}  // namespace spruce
