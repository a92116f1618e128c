// SPDX-License-Identifier: Apache-2.0
// How passes rebuild a graph: its equations in order, each kept or replaced by a rule.
#pragma once

#include <deque>

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// "No value": what a rule returns that does not apply.
inline constexpr ValueId kNone = -1;

class Rewriter;

/// What may stand in the place of the only output of `e`, whose inputs are values of the new graph;
/// kNone keeps the equation.
using Rule = ValueId (*)(Rewriter& r, const Equation& e);

/// The graph that a pass makes out of another one. Values keep their numbers; new ones follow.
class Rewriter {
 public:
  Rewriter(Graph from, Rule rule);

  /// Valid until a value is added.
  const Aval& aval(ValueId v) const { return out_.avals[static_cast<size_t>(v)]; }
  /// A copy: values that are added move the types.
  Shape shape(ValueId v) const { return aval(v).shape; }
  /// The dtype of v.
  Dtype dtype(ValueId v) const { return aval(v).dtype; }
  /// The equation that defines v; null for inputs and constants. It stays where it is.
  const Equation* source(ValueId v) const;
  /// The same if it applies `p`, else null.
  const Equation* source(ValueId v, const Primitive& p) const;
  /// The value of a constant, else null.
  const Array* constant(ValueId v) const;
  /// How often v is used, by equations and as an output.
  int64_t uses(ValueId v) const { return uses_[static_cast<size_t>(v)]; }

  /// The only output of p(in), an application to which the rule is put first.
  ValueId emit(const Primitive& p, Params params, std::vector<ValueId> in);
  ValueId emit(const Primitive& p, std::vector<ValueId> in) { return emit(p, {}, std::move(in)); }
  /// A new constant with that value and its type.
  ValueId add_constant(const Array& value);
  /// A constant of rank 0 of that dtype.
  ValueId add_scalar(Dtype dtype, double value);

  /// How many equations the rule has replaced so far.
  int64_t replaced() const { return replaced_; }

  /// Goes over all equations of the graph; `pass` makes the new nested graphs, null keeps them.
  Graph run(Graph (*pass)(Graph));

 private:
  void append(Equation e);

  std::vector<Equation> from_;  // what has not been put into the new graph
  std::vector<ValueId> from_outputs_;
  const Rule rule_;
  Graph out_;
  std::deque<Equation> equations_;
  std::vector<ValueId> renamed_;   // by the old number
  std::vector<int32_t> source_;    // the defining equation by the new number; -1 for none
  std::vector<int32_t> constant_;  // the place in out_.constants; -1 for none
  std::vector<int32_t> uses_;
  int64_t replaced_ = 0;
  std::string place_;  // of the equation at hand: new ones inherit it
};

/// The graph with `rule` applied to each equation, and `pass` to each graph within it; null leaves
/// those as they are.
Graph rewrite(Graph graph, Rule rule, Graph (*pass)(Graph));

/// True if the parameters hold graphs.
bool has_graphs(const Params& params);
/// True if it has graphs that passes go into: those of loops and branches. What has been fused is
/// finished.
bool has_bodies(const Equation& e);
/// True if some equation of the graph has.
bool has_bodies(const Graph& graph);
/// The parameters with pass(g) in the place of each graph g.
Params map_graphs(const Params& params, Graph (*pass)(Graph));

}  // namespace spruce::passes
