// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/graph/arity.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace spruce::internal {
namespace {

// What the samples of a primitive show.
struct Arity {
  size_t least = 0;
  size_t most = SIZE_MAX;
  const std::type_info* params = nullptr;  // null where not known
};

Arity arity_of(const Primitive& p) {
  if (p.samples == nullptr) return {p.shape != nullptr && p.batch != nullptr ? size_t{1} : 0};
  Arity a{SIZE_MAX, 0};
  bool any = false;
  for (const Sample& s : p.samples()) {
    a.least = std::min(a.least, s.in.size());
    a.most = std::max(a.most, s.in.size());
    if (s.params.empty()) continue;
    a.params = &s.params.base()->type();
    // Where there are graphs, the shape rule asks what they take.
    s.params.base()->visit_graphs([&](const GraphPtr&) { any = true; });
  }
  if (any) return {0, SIZE_MAX, a.params};
  // Two numbers among the samples are two examples of any number.
  if (a.least != a.most) a.most = SIZE_MAX;
  return a;
}

Arity known_arity(const Primitive& p) {
  static std::mutex mutex;
  static auto* const known = new std::unordered_map<const Primitive*, Arity>;
  {
    const std::lock_guard lock(mutex);
    const auto found = known->find(&p);
    if (found != known->end()) return found->second;
  }
  // Not under the lock: samples that hold graphs are read from text, which asks for arities too.
  const Arity a = arity_of(p);
  const std::lock_guard lock(mutex);
  return known->emplace(&p, a).first->second;
}

}  // namespace

std::string arity_problem(const Primitive& p, size_t inputs, const Params& params) {
  if (params.empty() != (p.params == nullptr))
    return params.empty() ? "has no parameters and needs some" : "has parameters and takes none";
  const Arity a = known_arity(p);
  if (inputs < a.least || inputs > a.most)
    return "does not take " + std::to_string(inputs) + " inputs";
  if (a.params != nullptr && !params.empty() && params.base()->type() != *a.params)
    return "has parameters of another primitive";
  return "";
}

void check_body(const char* op, const Graph& body, Avals in) {
  const auto type_of = [&](ValueId v) -> const Aval& {
    if (v < 0 || static_cast<size_t>(v) >= body.avals.size())
      throw GraphError(std::string(op) + ": its body has no value " + std::to_string(v));
    return body.avals[static_cast<size_t>(v)];
  };
  if (in.size() != body.inputs.size()) {
    throw GraphError(std::string(op) + ": its body takes " + std::to_string(body.inputs.size()) +
                     " inputs, " + std::to_string(in.size()) + " are given");
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const Aval& want = type_of(body.inputs[i]);
    if (in[i]->dtype != want.dtype || !(in[i]->shape == want.shape)) {
      throw GraphError(std::string(op) + ": input " + std::to_string(i) + " is " +
                       to_string(*in[i]) + ", its body takes " + to_string(want));
    }
  }
  for (const ValueId v : body.outputs) (void)type_of(v);
}

}  // namespace spruce::internal
