// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/fusion/regions.h"

#include <utility>

#include "spruce/core/rules/group.h"
#include "spruce/transforms/passes/passes.h"

namespace spruce::passes {

using internal::at;

Regions::Regions(const Graph& graph, int64_t constant_elements)
    : g_(graph),
      constant_(graph.avals.size(), nullptr),
      readers_(graph.avals.size(), 0),
      met_(graph.avals.size(), 0),
      inside_(graph.avals.size(), 0),
      renamed_(graph.avals.size(), 0) {
  for (const Graph::Constant& c : g_.constants) {
    if (c.value.size() <= constant_elements) constant_[at(c.id)] = &c;
  }
  for (const Equation& e : g_.equations) {
    for (const ValueId v : e.inputs) ++readers_[at(v)];
  }
  for (const ValueId v : g_.outputs) ++readers_[at(v)];
}

Regions::Boundary Regions::boundary(const std::vector<size_t>& members) {
  Boundary b;
  ++stamp_;
  // True for the first time.
  const auto meet = [&](ValueId v) {
    if (std::exchange(met_[at(v)], stamp_) == stamp_) return false;
    inside_[at(v)] = 0;
    return true;
  };
  for (const size_t m : members) {
    const Equation& e = g_.equations[m];
    for (const ValueId v : e.inputs) {
      if (meet(v) && constant_[at(v)] == nullptr) b.inputs.push_back(v);
      ++inside_[at(v)];
    }
    for (const ValueId v : e.outputs) meet(v);
  }
  for (const size_t m : members) {
    for (const ValueId v : g_.equations[m].outputs) {
      if (readers_[at(v)] > inside_[at(v)]) b.outputs.push_back(v);
    }
  }
  return b;
}

Graph Regions::body(const std::vector<size_t>& members, const Boundary& boundary) {
  Graph b;
  ++stamp_;
  const auto name = [&](ValueId v) {
    met_[at(v)] = stamp_;
    return renamed_[at(v)] = b.add_value(g_.avals[at(v)]);
  };
  b.equations.reserve(members.size());
  for (const size_t m : members) {
    const Equation& e = g_.equations[m];
    Equation& copy =
        b.equations.emplace_back(Equation{e.primitive, e.params, e.inputs, e.outputs, {}});
    for (ValueId& v : copy.inputs) {
      if (met_[at(v)] != stamp_) {
        const ValueId id = name(v);
        if (constant_[at(v)] != nullptr)
          b.constants.push_back({id, constant_[at(v)]->value});
        else
          b.inputs.push_back(id);
      }
      v = renamed_[at(v)];
    }
    for (ValueId& v : copy.outputs) v = name(v);
  }
  for (const ValueId v : boundary.outputs) b.outputs.push_back(renamed_[at(v)]);
  return b;
}

Equation Regions::equation(const std::vector<size_t>& members, bool unrolled) {
  Boundary arrays = boundary(members);
  Graph all = common_subexpressions(body(members, arrays));
  Equation e{&fused_p, {}, std::move(arrays.inputs), std::move(arrays.outputs), {}};
  e.params = Params::make(GroupParams{unrolled, std::make_shared<const Graph>(std::move(all))});
  e.place = g_.equations[members.back()].place;
  return e;
}

}  // namespace spruce::passes
