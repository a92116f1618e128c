// SPDX-License-Identifier: Apache-2.0
// Kernels of elementwise values, and of reductions of them, from a graph.
#pragma once

#include <map>
#include <vector>

#include "spruce/cuda/codegen/expression.h"

namespace spruce::cuda {

/// A value of a graph and where it is to be written.
struct Target {
  ValueId value;  ///< of the graph
  Place place;    ///< for its elements
};

/// One kernel that writes the targets, outputs of one shape. False if a value cannot be computed by
/// an Expression.
bool elementwise_kernel(const PrepareArgs& args, const Graph& graph,
                        const std::map<ValueId, Place>& places, const std::vector<Target>& targets,
                        Kernels& out);

/// A reduction of one value of a graph.
struct Reduction {
  std::string name;  ///< of the operation in the prelude: "Sum", "Largest", "ArgLargest"
  ValueId from;      ///< what is reduced
  Axes axes;         ///< of it, rising
  Dtype result;      ///< dtype of the result
  Place to;          ///< where it is written
};

/// The kernels of a reduction; results that many elements give are made in two steps, by
/// out.workspace_bytes. False as above.
bool reduction_kernels(const PrepareArgs& args, const Graph& graph,
                       const std::map<ValueId, Place>& places, const Reduction& reduction,
                       Kernels& out);

/// Memory of the workspace: its offset. Aligned to 256.
int64_t reserve(Kernels& out, int64_t bytes);

}  // namespace spruce::cuda
