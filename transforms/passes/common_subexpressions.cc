// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "spruce/core/ops/math.h"
#include "spruce/transforms/passes/passes.h"
#include "spruce/transforms/passes/rewriter.h"

namespace spruce::passes {
namespace {

// Small constants with equal types and bytes are one constant. Large ones are compared by identity
// only.
std::string constant_key(const Array& a) {
  constexpr int64_t kSmall = 64;
  std::string key = to_string(a.aval());
  if (a.is_tracer() || a.nbytes() > kSmall || &a.device() != &cpu_device()) {
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

bool commutes(const Primitive& p) {
  return &p == &add_p || &p == &mul_p || &p == &eq_p || &p == &ne_p || &p == &and_p ||
         &p == &or_p || &p == &xor_p;
}

}  // namespace

Graph common_subexpressions(const Graph& graph) {
  Graph out;
  out.avals = graph.avals;
  out.inputs = graph.inputs;
  std::vector<ValueId> renamed(graph.avals.size());
  for (size_t i = 0; i < renamed.size(); ++i) renamed[i] = static_cast<ValueId>(i);
  std::map<std::string, ValueId> constants;
  for (const Graph::Constant& c : graph.constants) {
    const auto [it, added] = constants.try_emplace(constant_key(c.value), c.id);
    if (added)
      out.constants.push_back(c);
    else
      renamed[static_cast<size_t>(c.id)] = it->second;
  }
  // The key holds all but the parameters, which know how to compare themselves.
  std::multimap<std::string, size_t> seen;
  for (const Equation& e : graph.equations) {
    Equation copy = e;
    for (ValueId& v : copy.inputs) v = renamed[static_cast<size_t>(v)];
    if (has_bodies(copy)) copy.params = map_graphs(copy.params, common_subexpressions);
    std::string key(reinterpret_cast<const char*>(&copy.primitive), sizeof copy.primitive);
    std::vector<ValueId> in = copy.inputs;
    if (commutes(*copy.primitive)) std::sort(in.begin(), in.end());
    key.append(reinterpret_cast<const char*>(in.data()), in.size() * sizeof(ValueId));
    const auto [begin, end] = seen.equal_range(key);
    const Equation* twin = nullptr;
    for (auto it = begin; it != end && twin == nullptr; ++it) {
      if (out.equations[it->second].params == copy.params) twin = &out.equations[it->second];
    }
    if (twin != nullptr) {
      for (size_t k = 0; k < copy.outputs.size(); ++k)
        renamed[static_cast<size_t>(copy.outputs[k])] = twin->outputs[k];
      continue;
    }
    seen.emplace(std::move(key), out.equations.size());
    out.equations.push_back(std::move(copy));
  }
  for (const ValueId v : graph.outputs) out.outputs.push_back(renamed[static_cast<size_t>(v)]);
  return out;
}

}  // namespace spruce::passes
