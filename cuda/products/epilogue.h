// SPDX-License-Identifier: Apache-2.0
// Products that cuBLASLt ends with a bias and an activation: one kernel where there were two.
#pragma once

#include <optional>

#include "spruce/core/graph/graph.h"
#include "spruce/cuda/kernels.h"

namespace spruce::cuda {

/// The parameters of a product with an end: the axes are those of DotParams.
struct ProductEndParams {
  Axes lhs_contract, rhs_contract, lhs_batch, rhs_batch;
  bool bias;           ///< input 2 is added along the last axis
  int64_t activation;  ///< an Activation
};

/// A product and what follows it: lhs, rhs and, where there is one, bias. Only graphs that were
/// made ready for a device have it.
extern const Primitive product_end_p;

/// Its steps. Nothing where cuBLASLt has none for such operands.
std::optional<Kernels> product_end_kernels(const PrepareArgs& args);

/// The graph with each product and the equation after it, where that adds a bias along the last
/// axis or applies relu or gelu (the form with tanh) and nobody else reads the product, as one.
Graph join_products(Graph graph);

}  // namespace spruce::cuda
