// SPDX-License-Identifier: Apache-2.0
// Equations of a kind in a graph or in the graphs within it.
#pragma once

#include <functional>

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// What is looked for.
using EquationTest = std::function<bool(const Equation&)>;

/// The first equation for which `test` is true, one that holds graphs before those in them; null
/// where there is none. Each graph is looked at once, also where several equations hold it, as
/// those of a derivative do.
const Equation* find_equation(const Graph& graph, const EquationTest& test);
/// The same of the graphs that the parameters hold.
const Equation* find_equation(const Params& params, const EquationTest& test);

/// What is looked for among constants.
using ConstantTest = std::function<bool(const Array&)>;

/// True if `test` is for a constant of the graph or of a graph within it.
bool any_constant(const Graph& graph, const ConstantTest& test);
/// The same of the graphs that the parameters hold.
bool any_constant(const Params& params, const ConstantTest& test);

}  // namespace spruce::internal
