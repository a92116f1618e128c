// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/graph_log.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "spruce/core/environment.h"

namespace spruce::internal {

bool log_holds(const char* word) {
  static const auto& words =
      *new std::vector<std::string>(environment_list("SPRUCE_LOG", {"compile", "graphs"}));
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string log_graph(const char* pass, const Graph& graph, std::string before) {
  static const bool kOn = log_holds("graphs");
  if (!kOn) return before;
  std::string text = graph.text();
  if (text == before) return before;
  std::fprintf(stderr, "spruce: graph: %s, %zu equations\n%s\n", pass, graph.equations.size(),
               text.c_str());
  return text;
}

}  // namespace spruce::internal
