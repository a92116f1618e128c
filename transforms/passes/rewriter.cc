// SPDX-License-Identifier: Apache-2.0
#include "spruce/transforms/passes/rewriter.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "spruce/core/rules/group.h"
#include "spruce/core/rules/shape.h"

namespace spruce::passes {

Rewriter::Rewriter(Graph from, Rule rule)
    : from_(std::move(from.equations)),
      from_outputs_(std::move(from.outputs)),
      rule_(rule),
      renamed_(from.avals.size()),
      source_(from.avals.size(), -1),
      constant_(from.avals.size(), -1),
      uses_(from.avals.size(), 0) {
  out_.avals = std::move(from.avals);
  out_.inputs = std::move(from.inputs);
  out_.constants = std::move(from.constants);
  std::iota(renamed_.begin(), renamed_.end(), 0);
  for (size_t i = 0; i < out_.constants.size(); ++i)
    constant_[static_cast<size_t>(out_.constants[i].id)] = static_cast<int32_t>(i);
  for (const Equation& e : from_) {
    for (const ValueId v : e.inputs) ++uses_[static_cast<size_t>(v)];
  }
  for (const ValueId v : from_outputs_) ++uses_[static_cast<size_t>(v)];
}

const Equation* Rewriter::source(ValueId v) const {
  const int32_t n = source_[static_cast<size_t>(v)];
  return n < 0 ? nullptr : &equations_[static_cast<size_t>(n)];
}

const Equation* Rewriter::source(ValueId v, const Primitive& p) const {
  const Equation* e = source(v);
  return e != nullptr && e->primitive == &p ? e : nullptr;
}

const Array* Rewriter::constant(ValueId v) const {
  const int32_t n = constant_[static_cast<size_t>(v)];
  return n < 0 ? nullptr : &out_.constants[static_cast<size_t>(n)].value;
}

ValueId Rewriter::add_constant(const Array& value) {
  const ValueId v = out_.add_value(value.aval());
  source_.push_back(-1);
  uses_.push_back(0);
  constant_.push_back(static_cast<int32_t>(out_.constants.size()));
  out_.constants.push_back({v, value});
  return v;
}

ValueId Rewriter::add_scalar(Dtype dtype, double value) {
  return add_constant(rules::scalar_of(dtype, value));
}

void Rewriter::append(Equation e) {
  for (const ValueId v : e.outputs)
    source_[static_cast<size_t>(v)] = static_cast<int32_t>(equations_.size());
  equations_.push_back(std::move(e));
}

ValueId Rewriter::emit(const Primitive& p, Params params, std::vector<ValueId> in) {
  Equation e{&p, std::move(params), std::move(in), {}, place_};
  const ValueId better = rule_(*this, e);
  if (better != kNone) return better;
  std::vector<const Aval*> types;
  for (const ValueId v : e.inputs) {
    types.push_back(&aval(v));
    ++uses_[static_cast<size_t>(v)];
  }
  for (const Aval& type : output_avals(p, types, e.params)) {
    e.outputs.push_back(out_.add_value(type));
    source_.push_back(-1);
    constant_.push_back(-1);
    uses_.push_back(0);
  }
  const ValueId v = e.outputs[0];
  append(std::move(e));
  return v;
}

Graph Rewriter::run(Graph (*pass)(Graph)) {
  for (Equation& e : from_) {
    for (ValueId& v : e.inputs) v = renamed_[static_cast<size_t>(v)];
    place_ = e.place;
    if (pass != nullptr && has_bodies(e)) e.params = map_graphs(e.params, pass);
    const ValueId by = e.outputs.size() == 1 ? rule_(*this, e) : kNone;
    if (by == kNone) {
      append(std::move(e));
      continue;
    }
    ++replaced_;
    for (const ValueId v : e.inputs) --uses_[static_cast<size_t>(v)];
    uses_[static_cast<size_t>(by)] += uses_[static_cast<size_t>(e.outputs[0])];
    renamed_[static_cast<size_t>(e.outputs[0])] = by;
  }
  out_.equations.assign(std::make_move_iterator(equations_.begin()),
                        std::make_move_iterator(equations_.end()));
  for (const ValueId v : from_outputs_) out_.outputs.push_back(renamed_[static_cast<size_t>(v)]);
  return std::move(out_);
}

Graph rewrite(Graph graph, Rule rule, Graph (*pass)(Graph)) {
  return Rewriter(std::move(graph), rule).run(pass);
}

bool has_graphs(const Params& params) {
  bool found = false;
  if (!params.empty())
    params.base()->visit_graphs([&](const GraphPtr& g) { found = found || g != nullptr; });
  return found;
}

bool has_bodies(const Equation& e) {
  return e.primitive->kind != PrimitiveKind::kGroup && has_graphs(e.params);
}

bool has_bodies(const Graph& graph) {
  return std::any_of(graph.equations.begin(), graph.equations.end(),
                     [](const Equation& e) { return has_bodies(e); });
}

Params map_graphs(const Params& params, Graph (*pass)(Graph)) {
  return params.map_graphs([&](const GraphPtr& g) {
    return g == nullptr ? g : std::make_shared<const Graph>(pass(*g));
  });
}

}  // namespace spruce::passes
