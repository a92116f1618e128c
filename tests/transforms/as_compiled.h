// SPDX-License-Identifier: Apache-2.0
// Graphs run as compiled functions run them: the plan of the very graph, without further passes.
#pragma once

#include <vector>

#include "spruce/core/ops/create.h"
#include "spruce/transforms/compile/plan.h"

namespace spruce {

inline std::vector<Array> as_compiled(const Graph& graph, const std::vector<Array>& args) {
  const internal::Plan plan(graph, true);
  const Array workspace = zeros({static_cast<int64_t>(plan.workspace_bytes()) + 64}, uint8);
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<Array> results;
  for (const Array& a : args) in.push_back(internal::mutable_data(a));
  for (const ValueId v : graph.outputs) {
    results.push_back(internal::make_array(graph.avals[static_cast<size_t>(v)]));
    out.push_back(internal::mutable_data(results.back()));
  }
  plan.bind(internal::mutable_data(workspace));
  plan.run(internal::mutable_data(workspace), in.data(), out.data());
  return results;
}

}  // namespace spruce
