// SPDX-License-Identifier: Apache-2.0
// How graphs are made out of others: equations added, bodies copied in, equations replaced.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"

namespace spruce {

/// The types of values. Valid until a value is added.
std::vector<const Aval*> types_of(const Graph& graph, std::span<const ValueId> values);

/// Adds p(in); returns its only output.
ValueId emit(Graph& graph, const Primitive& p, Params params, std::vector<ValueId> in,
             const std::string& place);

/// A graph with the values, inputs, constants and outputs of that one, and no equations yet.
Graph without_equations(const Graph& graph);

/// Adds a copy of what `body` computes and holds, with `inputs` in the place of its inputs; returns
/// what its outputs are in `into`.
std::vector<ValueId> splice(Graph& into, const Graph& body, std::span<const ValueId> inputs);

/// The graph made anew: `put` gets each equation, its inputs as they are called by then, and adds
/// it, or what takes its place, to `out`. Values keep their numbers and new ones follow; where
/// another value stands for one of the old graph, `put` says so in `renamed`, by the old number.
Graph rebuild(
    Graph graph,
    const std::function<void(Graph& out, Equation e, std::vector<ValueId>& renamed)>& put);

/// For rebuild(): adds what `body` computes in the place of e, whose inputs and outputs it has.
void splice_for(Graph& out, const Equation& e, const Graph& body, std::vector<ValueId>& renamed);

}  // namespace spruce
