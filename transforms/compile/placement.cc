// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/compile/placement.h"

#include <numeric>

#include "spruce/core/default_device.h"
#include "spruce/core/rules/to_device.h"

namespace spruce::internal {
namespace {

Params with_graphs(const Params& params, const std::function<Graph(const Graph&)>& f) {
  return params.map_graphs([&](const GraphPtr& g) { return std::make_shared<const Graph>(f(*g)); });
}

void add_devices(const Graph& graph, GraphDevice& found) {
  for (const Aval& a : graph.avals) found.add(a);
  for (const Equation& e : graph.equations) {
    if (e.params.empty()) continue;
    e.params.base()->visit_graphs([&](const GraphPtr& g) {
      if (g != nullptr) add_devices(*g, found);
    });
  }
}

}  // namespace

void GraphDevice::add(const Aval& aval) {
  if (!is_placed(aval)) return;
  several = several || (any && aval.device != index);
  any = true;
  index = aval.device;
}

GraphDevice device_of(const Graph& graph) {
  GraphDevice found;
  add_devices(graph, found);
  return found;
}

Graph without_devices(const Graph& graph) {
  std::vector<ValueId> renamed(graph.avals.size());
  std::iota(renamed.begin(), renamed.end(), 0);
  Graph out;
  out.avals = graph.avals;
  for (Aval& a : out.avals) a.device = 0;
  out.inputs = graph.inputs;
  for (const Graph::Constant& c : graph.constants)
    out.constants.push_back({c.id, c.value.is_tracer() ? c.value : on_host(c.value)});
  for (const Equation& e : graph.equations) {
    if (e.primitive == &to_device_p) {
      renamed[static_cast<size_t>(e.outputs[0])] = renamed[static_cast<size_t>(e.inputs[0])];
      continue;
    }
    Equation kept = e;
    for (ValueId& v : kept.inputs) v = renamed[static_cast<size_t>(v)];
    kept.params = with_graphs(e.params, without_devices);
    out.equations.push_back(std::move(kept));
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(renamed[static_cast<size_t>(v)]);
  return out;
}

Graph on_device(const Graph& graph, uint8_t device) {
  Graph out = graph;
  for (Aval& a : out.avals) a.device = device;
  for (Graph::Constant& c : out.constants) {
    Aval& type = out.avals[static_cast<size_t>(c.id)];
    if (is_placed(c.value.aval()))
      c.value = rules::to_device(c.value, device);
    else
      type.device = 0;  // a number goes along with whatever it meets
  }
  for (Equation& e : out.equations)
    e.params = with_graphs(e.params, [&](const Graph& g) { return on_device(g, device); });
  return out;
}

}  // namespace spruce::internal
