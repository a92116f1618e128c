// SPDX-License-Identifier: Apache-2.0
// Graphs over arrays of a few elements as straight-line machine code, alone or as the body of a
// loop: no dispatch for an operation, values in registers.
#pragma once

#include <cstdint>
#include <memory>

#include "spruce/core/graph/graph.h"

namespace spruce::fusion {

/// The most elements of an array that is worth it.
inline constexpr int64_t kTinyElements = 64;

/// How the graph is the body of a loop: its inputs are `consts`, `carry` and slices of arrays, its
/// outputs `carry` and slices, as those of scan.
struct TinyLoop {
  int64_t consts = 0;    ///< how many inputs are the same in each step
  int64_t carry = 0;     ///< how many a step hands to the next
  bool reverse = false;  ///< from the last slice to the first
  int64_t length = 1;    ///< steps
};

/// Scalar operations of an equation that make_tiny has code for; -1 for any other equation, and
/// where there is no code generator.
int64_t tiny_work(const Graph& graph, const Equation& equation);

/// A kernel that computes the outputs of the graph from its inputs. Null where one of the equations
/// has no code, or the system gives no executable memory.
std::unique_ptr<const PreparedKernel> make_tiny(const Graph& body);
/// The same for the body of a loop: inputs and outputs that are slices are whole arrays.
std::unique_ptr<const PreparedKernel> make_tiny_loop(const Graph& body, const TinyLoop& loop);

}  // namespace spruce::fusion
