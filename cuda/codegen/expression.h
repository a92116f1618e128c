// SPDX-License-Identifier: Apache-2.0
// Values of a graph of elementwise equations as a scalar program for one element: each input is
// loaded once, what moves elements (broadcast_in_dim, iota, reshapes of axes of size 1) only
// changes which.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spruce/core/graph/graph.h"
#include "spruce/core/scalar/program.h"
#include "spruce/cuda/codegen/walk.h"

namespace spruce::cuda {

/// Where a value stands in memory.
struct Place {
  /// What holds it.
  enum class Kind : uint8_t { kInput, kOutput, kWorkspace } kind;
  size_t index = 0;    ///< of the input or output of the equation
  int64_t offset = 0;  ///< in the workspace, in bytes
};

/// The equation that makes a value; null for inputs and constants.
const Equation* maker_of(const Graph& graph, ValueId v);

/// Whether elements that lie `steps` apart along the axes of `space` have no gaps and are in
/// row-major order.
bool is_dense(const Shape& steps, const Shape& space);

/// The program for one element of some values.
class Expression {
 public:
  /// Something that is read: an array, or (without a place) the position along an axis.
  struct Load {
    std::optional<Place> place;  ///< none for positions
    Dtype dtype;                 ///< of the elements
    Shape steps;                 ///< along the axes of the space
  };

  /// Values of `graph` over the axes of `space`. What has an entry in `places` is read from there.
  Expression(const Graph& graph, const std::map<ValueId, Place>& places, const Shape& space)
      : graph_(graph), places_(places), space_(space) {}

  /// The number of value v, whose axes are all those of the space, in the program; -1 if it is made
  /// by an equation that is no elementwise one.
  int value(ValueId v);

  /// What has to be read: input k of the program is load k, a position an i64.
  const std::vector<Load>& loads() const { return loads_; }
  /// What computes all values.
  const scalar::Program& program() const { return program_; }

 private:
  // A value at the axes of the space that its own axes follow; -1 for those of size 1.
  struct Need {
    ValueId value;
    Axes axes;
    bool operator<(const Need& b) const;
  };

  std::optional<std::vector<Need>> needs(const Need& of) const;
  int emit(const Need& of, const std::vector<Need>& in);
  int load(const std::optional<Place>& place, const Aval& aval, const Shape& strides,
           const Axes& axes);

  const Graph& graph_;
  const std::map<ValueId, Place>& places_;
  const Shape space_;
  std::vector<Load> loads_;
  std::map<Need, int> values_;
  scalar::Program program_;
};

/// Declares what a load reads, and returns the name of the pointer; empty for a position.
std::string declare(KernelBuilder& kernel, const Expression::Load& load);
/// Declares what is written.
std::string declare(KernelBuilder& kernel, const Place& place, Dtype dtype);

}  // namespace spruce::cuda
