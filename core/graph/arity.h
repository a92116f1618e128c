// SPDX-License-Identifier: Apache-2.0
// What an equation has to look like before its shape rule can be asked: rules rely on the number of
// inputs and on the type of the parameters.
#pragma once

#include "spruce/core/graph/graph.h"

namespace spruce::internal {

/// Empty if `p` takes that many inputs and such parameters, else what is wrong: "does not take 1
/// inputs".
std::string arity_problem(const Primitive& p, size_t inputs, const Params& params);

/// Throws GraphError, naming `op`, unless `body` takes inputs of those types and its outputs are
/// values of its own.
void check_body(const char* op, const Graph& body, Avals in);

}  // namespace spruce::internal
