// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/default_device.h"
#include "spruce/core/graph/graph.h"

namespace spruce {

uint8_t internal::device_of(const Graph& graph, const Equation& e) {
  for (const ValueId v : e.outputs) {
    const auto at = static_cast<size_t>(v);
    if (at < graph.avals.size() && graph.avals[at].device != 0) return graph.avals[at].device;
  }
  return 0;
}

std::vector<Array> internal::apply_graph(const Graph& graph, std::span<const Array> args) {
  if (args.size() != graph.inputs.size()) {
    throw ShapeError("evaluate: the graph has " + std::to_string(graph.inputs.size()) +
                     " inputs, " + std::to_string(args.size()) + " arguments were given");
  }
  std::vector<Array> env(graph.avals.size());
  std::vector<int32_t> uses(graph.avals.size(), 0);
  for (const Equation& e : graph.equations) {
    for (const ValueId i : e.inputs) ++uses[static_cast<size_t>(i)];
  }
  for (const ValueId i : graph.outputs) ++uses[static_cast<size_t>(i)];
  for (size_t i = 0; i < args.size(); ++i) {
    const Aval &want = graph.avals[static_cast<size_t>(graph.inputs[i])], &got = args[i].aval();
    if (want.dtype != got.dtype || !(want.shape == got.shape)) {
      const std::string message = "evaluate: argument " + std::to_string(i) + " is " +
                                  to_string(got) + ", the graph takes " + to_string(want);
      if (want.shape == got.shape) throw DtypeError(message);
      throw ShapeError(message);
    }
    env[static_cast<size_t>(graph.inputs[i])] = args[i];
  }
  for (const Graph::Constant& c : graph.constants) env[static_cast<size_t>(c.id)] = c.value;
  std::vector<Array> in;
  const Loc caller = LocScope::current();
  const LocReset reset;
  for (const Equation& e : graph.equations) {
    const LocScope place(e.place.empty() ? caller : Loc::text(e.place.c_str()));
    const DefaultDevice here(device_of(graph, e));
    in.clear();
    for (const ValueId i : e.inputs) {
      Array& a = env[static_cast<size_t>(i)];
      if (--uses[static_cast<size_t>(i)] == 0)
        in.push_back(std::move(a));
      else
        in.push_back(a);
    }
    const std::vector<Array> out = bind_all(*e.primitive, in, e.params);
    for (size_t k = 0; k < out.size(); ++k) {
      if (uses[static_cast<size_t>(e.outputs[k])] > 0)
        env[static_cast<size_t>(e.outputs[k])] = out[k];
    }
  }
  std::vector<Array> result;
  for (const ValueId i : graph.outputs) result.push_back(env[static_cast<size_t>(i)]);
  return result;
}

std::vector<Array> evaluate(const Graph& graph, std::span<const Array> args, Loc loc) {
  const LocScope at(loc);
  return internal::apply_graph(graph, args);
}

}  // namespace spruce
