// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>

#include "spruce/transforms/passes/effects.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// Small constants with equal types and bytes are one constant. Large ones are compared by identity
// only.
std::string constant_key(const Array& a) {
  constexpr int64_t kSmall = 64;
  std::string key = to_string(a.aval());
  if (a.is_tracer() || a.nbytes() > kSmall || a.aval().device != 0) {
    const void* p = a.impl();
    key += '@';
    key.append(reinterpret_cast<const char*>(&p), sizeof p);
  } else {
    key += '=';
    key.append(static_cast<const char*>(internal::mutable_data(a)),
               static_cast<size_t>(a.nbytes()));
  }
  return key;
}

// The equations so far, to find equal ones.
class Seen {
 public:
  explicit Seen(const std::vector<Equation>& equations) : equations_(equations) {}

  /// The equal one before equation `n`, or nullptr, after which n is one of them. Parameters count
  /// where the rest is equal: many slices of one array must not be compared with each other.
  const Equation* twin(size_t n) {
    const Equation& e = equations_[n];
    std::string key(reinterpret_cast<const char*>(&e.primitive), sizeof e.primitive);
    std::vector<ValueId> in = e.inputs;
    if (e.primitive->commutative) std::sort(in.begin(), in.end());
    key.append(reinterpret_cast<const char*>(in.data()), in.size() * sizeof(ValueId));
    const auto [first, added] = first_.try_emplace(key, n);
    if (added) return nullptr;
    if (equations_[first->second].params == e.params) return &equations_[first->second];
    std::vector<size_t>& others = others_[key + e.params.text()];
    for (const size_t other : others) {
      if (equations_[other].params == e.params) return &equations_[other];
    }
    others.push_back(n);
    return nullptr;
  }

 private:
  const std::vector<Equation>& equations_;
  std::unordered_map<std::string, size_t> first_;                // by primitive and inputs
  std::unordered_map<std::string, std::vector<size_t>> others_;  // by parameters too
};

// `pass` makes the new nested graphs, null keeps them.
Graph merged(Graph graph, Graph (*pass)(Graph)) {
  std::vector<ValueId> renamed(graph.avals.size());
  std::iota(renamed.begin(), renamed.end(), 0);
  Graph out;
  std::unordered_map<std::string, ValueId> constants;
  for (Graph::Constant& c : graph.constants) {
    const auto [it, added] = constants.try_emplace(constant_key(c.value), c.id);
    if (added)
      out.constants.push_back(std::move(c));
    else
      renamed[static_cast<size_t>(c.id)] = it->second;
  }
  Seen seen(out.equations);
  for (Equation& e : graph.equations) {
    for (ValueId& v : e.inputs) v = renamed[static_cast<size_t>(v)];
    if (pass != nullptr && has_bodies(e)) e.params = map_graphs(e.params, pass);
    out.equations.push_back(std::move(e));
    const Equation* twin = seen.twin(out.equations.size() - 1);
    if (twin == nullptr || has_effect(*twin)) continue;
    for (size_t k = 0; k < twin->outputs.size(); ++k)
      renamed[static_cast<size_t>(out.equations.back().outputs[k])] = twin->outputs[k];
    out.equations.pop_back();
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(renamed[static_cast<size_t>(v)]);
  out.avals = std::move(graph.avals);
  out.inputs = std::move(graph.inputs);
  return out;
}

}  // namespace

Graph common_subexpressions(Graph graph) { return merged(std::move(graph), common_subexpressions); }

Graph outermost_common_subexpressions(Graph graph) { return merged(std::move(graph), nullptr); }

}  // namespace spruce::passes
