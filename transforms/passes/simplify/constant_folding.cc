// SPDX-License-Identifier: Apache-2.0
// What depends on constants alone is computed once, while compiling.
#include "spruce/core/graph/build.h"
#include "spruce/core/interpreter.h"
#include "spruce/core/rules/shape.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

constexpr int64_t kLargest = 1 << 20;      // bytes of one value
constexpr int64_t kAllTogether = 8 << 20;  // beyond what folding makes unnecessary

// Repetition and counting cost next to nothing where they are consumed; as constants they would
// have to be read. One number that is repeated is best left one number.
int64_t limit(const Primitive& p, bool one_number) {
  if (&p == &broadcast_in_dim_p) return one_number ? 8 : 4096;
  return &p == &iota_p ? 4096 : kLargest;
}

class Folding {
 public:
  explicit Folding(Graph from) : from_(std::move(from)), constant_(from_.avals.size()) {
    for (const Graph::Constant& c : from_.constants) {
      if (!c.value.is_tracer() && c.value.aval().device == 0)
        constant_[static_cast<size_t>(c.id)] = c.value;
    }
  }

  Graph run() {
    const InterpreterScope scope(nullptr);
    Graph out = without_equations(from_);
    for (Equation& e : from_.equations) {
      if (folds(e)) {
        std::vector<Array> in, results(e.outputs.size());
        for (const ValueId v : e.inputs) in.push_back(constant_[static_cast<size_t>(v)]);
        internal::evaluate(*e.primitive, in, e.params, results);
        for (size_t k = 0; k < results.size(); ++k) {
          constant_[static_cast<size_t>(e.outputs[k])] = results[k];
          out.constants.push_back({e.outputs[k], results[k]});
        }
        continue;
      }
      out.equations.push_back(std::move(e));
    }
    return out;
  }

 private:
  bool folds(const Equation& e) {
    if (e.primitive->cpu == nullptr && e.primitive->kind != PrimitiveKind::kView) return false;
    if (has_graphs(e.params)) return false;
    for (const ValueId v : e.inputs) {
      if (!constant_[static_cast<size_t>(v)].defined()) return false;
    }
    int64_t bytes = 0;
    for (const ValueId v : e.outputs) bytes += from_.avals[static_cast<size_t>(v)].bytes();
    const bool one_number =
        !e.inputs.empty() && from_.avals[static_cast<size_t>(e.inputs[0])].numel() == 1;
    if (bytes > limit(*e.primitive, one_number)) return false;
    if (e.primitive->kind == PrimitiveKind::kView) return true;
    if (total_ + bytes > kAllTogether) return false;
    total_ += bytes;
    return true;
  }

  Graph from_;
  std::vector<Array> constant_;  // by value; undefined for what is not known
  int64_t total_ = 0;
};

}  // namespace

Graph constant_folding(Graph graph) { return Folding(std::move(graph)).run(); }

}  // namespace spruce::passes
