// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/executor.h"

#include "spruce/core/interpreter.h"

namespace spruce::internal {

Executor::Executor(Graph source, Graph graph)
    : source_(std::move(source)), graph_(std::move(graph)), used_(graph_.avals.size(), 0) {
  size_t total = 0;
  for (const Equation& e : graph_.equations) total += e.inputs.size();
  last_use_.assign(total, 0);
  std::vector<uint8_t> needed(graph_.avals.size(), 0);
  for (const ValueId v : graph_.outputs) needed[static_cast<size_t>(v)] = 1;
  for (const Graph::Constant& c : graph_.constants) needed[static_cast<size_t>(c.id)] = 1;
  size_t at = total;
  for (size_t n = graph_.equations.size(); n-- > 0;) {
    const Equation& e = graph_.equations[n];
    at -= e.inputs.size();
    for (const ValueId v : e.outputs)
      used_[static_cast<size_t>(v)] = needed[static_cast<size_t>(v)];
    // Of a value that stands twice among the inputs, the last place is its last use.
    for (size_t i = e.inputs.size(); i-- > 0;) {
      uint8_t& need = needed[static_cast<size_t>(e.inputs[i])];
      last_use_[at + i] = need == 0;
      need = 1;
    }
  }
}

std::vector<Array> Executor::run(std::vector<Array> args) const {
  const InterpreterScope scope(nullptr);
  std::vector<Array> env(graph_.avals.size());
  for (size_t i = 0; i < args.size(); ++i)
    env[static_cast<size_t>(graph_.inputs[i])] = std::move(args[i]);
  for (const Graph::Constant& c : graph_.constants) env[static_cast<size_t>(c.id)] = c.value;
  std::vector<Array> in, out;
  size_t at = 0;
  for (const Equation& e : graph_.equations) {
    in.clear();
    for (const ValueId v : e.inputs) {
      Array& a = env[static_cast<size_t>(v)];
      if (last_use_[at++])
        in.push_back(std::move(a));
      else
        in.push_back(a);
    }
    out.assign(e.outputs.size(), Array());
    evaluate_reusing(*e.primitive, in, e.params, out);
    for (size_t k = 0; k < out.size(); ++k) {
      const auto v = static_cast<size_t>(e.outputs[k]);
      if (used_[v]) env[v] = std::move(out[k]);
    }
  }
  std::vector<Array> result;
  result.reserve(graph_.outputs.size());
  for (const ValueId v : graph_.outputs) result.push_back(env[static_cast<size_t>(v)]);
  return result;
}

}  // namespace spruce::internal
