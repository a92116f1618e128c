// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/compile_log.h"

#include <cstdio>

#include "spruce/transforms/passes/graph_log.h"

namespace spruce::internal {

bool log_compile() {
  static const bool kOn = log_holds("compile");
  return kOn;
}

void CompilePhase::write(const Graph& graph) const {
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin_;
  const std::string* name = CompileScope::name_;
  std::fprintf(stderr, "spruce: compile %s: %s %.3f ms, %zu equations\n",
               name == nullptr ? "graph" : name->c_str(), phase_, time.count(),
               graph.equations.size());
}

}  // namespace spruce::internal
