// SPDX-License-Identifier: Apache-2.0
// Staging: runs a function on values that only have types, and writes down what it does.
#pragma once

#include <unordered_map>

#include "spruce/core/graph/graph.h"
#include "spruce/core/interpreter.h"

namespace spruce::internal {

class StageInterpreter final : public Interpreter {
 public:
  explicit StageInterpreter(const char* name) : name_(name) {}

  /// A new input of that type.
  Array input(const Aval& aval);
  /// Makes `a` the next output.
  void output(const Array& a);
  /// The finished graph. Constants may be values of interpreters outside.
  Graph take() { return std::move(graph_); }

  void process(const Primitive& p, std::span<const Array> in, const Params& params,
               std::span<Array> out) override;
  std::vector<Array> process_custom(const std::shared_ptr<const CustomFunction>& f,
                                    std::span<const Array> in) override;
  const char* name() const override { return name_; }

 private:
  ValueId id_of(const Array& a);
  Array make(ValueId id) const;

  const char* name_;
  Graph graph_;
  std::unordered_map<const ArrayImpl*, ValueId> constants_;
};

/// True if the graph holds values of interpreters that run; TracerError for one that has escaped,
/// naming the operation that uses it, or else `name`.
bool captures_tracers(const Graph& graph, const char* name = "jit");

}  // namespace spruce::internal
