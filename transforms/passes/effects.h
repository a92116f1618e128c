// SPDX-License-Identifier: Apache-2.0
// Equations that do something besides computing their outputs: debug::print, check, and host_call
// where it says so. Passes leave them where they are, as often as they are, in their order.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::passes {

/// The first equation with an effect, looking into loops and branches; null for none. Lives as long
/// as the graph.
const Equation* find_effect(const Graph& graph);
/// The same, of the equations that call into the host: host_call is one whatever it says.
const Equation* find_host_work(const Graph& graph);
/// True if the equation, or one in the graphs within it, has an effect.
bool has_effect(const Equation& e);
/// True if some equation of the graph, or of those in the parameters, has.
bool has_effects(const Graph& graph);
bool has_effects(const Params& params);

/// What the outputs need, and no effect on the way: for a part of a graph that runs a second time,
/// as rematerialisation does. The graph itself where it has no effects.
Graph without_effects(Graph graph);

/// Makes each equation with an effect depend on the one before it, so that the passes that follow,
/// which see dependences alone, keep their order. The graph itself where it has fewer than two.
Graph order_effects(Graph graph);

}  // namespace spruce::passes
