// SPDX-License-Identifier: Apache-2.0
// Graph: a pure function as data. Typed values in single assignment, one equation for each
// operation.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "spruce/core/primitive.h"

namespace spruce {

/// The number of a value within its graph.
using ValueId = int32_t;

/// outputs = primitive[params](inputs).
struct Equation {
  const Primitive* primitive = nullptr;  ///< what is applied; lives as long as the program
  Params params;                         ///< of that primitive; empty where it has none
  std::vector<ValueId> inputs;           ///< values defined before, in the order of the primitive
  std::vector<ValueId> outputs;          ///< values that it defines, none of them defined elsewhere
  std::string place;                     ///< "train.cc:42", where it is known
};

/// A pure function: inputs, constants and equations in an order in which each value is defined
/// before it is used. Plain data; passes take a checked graph and return a checked graph.
class Graph {
 public:
  /// A value that is part of the function: what it captured, or what a pass has computed.
  struct Constant {
    ValueId id;   ///< its number, whose type is that of `value`
    Array value;  ///< concrete, unless it is a value of a transform that still runs
  };

  std::vector<Aval> avals;          ///< the type of each value, by ValueId
  std::vector<ValueId> inputs;      ///< the arguments, in order
  std::vector<Constant> constants;  ///< defined before all equations
  std::vector<Equation> equations;  ///< in an order in which they can run
  std::vector<ValueId> outputs;     ///< the results, in order; may repeat, and may be inputs

  /// Adds a value of that type.
  ValueId add_value(const Aval& aval) {
    avals.push_back(aval);
    return static_cast<ValueId>(avals.size()) - 1;
  }

  /// The text that parse_graph reads. Constants of more than 16 elements are left out and print as
  /// `...`, unless `full`.
  std::string text(bool full = false) const;
};

/// Prints text(), large constants left out.
std::ostream& operator<<(std::ostream& out, const Graph& graph);

/// Reads what Graph::text() wrote. Throws GraphError naming line and column.
Graph parse_graph(std::string_view text, Loc loc = Loc::current());

/// Throws GraphError, showing the equation, unless every value is defined once and before its use
/// and every equation has the types that its primitive's shape rule gives. Nested graphs are
/// checked too.
void check(const Graph& graph, Loc loc = Loc::current());

namespace internal {
/// Where a graph has what it knows of a value: `graph.avals[at(v)]`.
constexpr size_t at(ValueId v) { return static_cast<size_t>(v); }
/// True for an equation whose output is the memory of its input: it is no step of a plan.
inline bool is_view(const Equation& e) { return e.primitive->kind == PrimitiveKind::kView; }
/// The number of the device where an equation makes what follows none of its inputs.
uint8_t device_of(const Graph& graph, const Equation& e);
/// evaluate() without a place of its own: operations are at the places of their equations, or where
/// the caller is.
std::vector<Array> apply_graph(const Graph& graph, std::span<const Array> args);
}  // namespace internal

/// Applies the graph under the current interpreter. Throws ShapeError or DtypeError unless the
/// arguments have the types of the inputs.
std::vector<Array> evaluate(const Graph& graph, std::span<const Array> args,
                            Loc loc = Loc::current());

}  // namespace spruce
