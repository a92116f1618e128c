// SPDX-License-Identifier: Apache-2.0
// Products of arrays: by cuBLASLt where it takes the operands as they lie, by tiles elsewhere.
#pragma once

#include <optional>

#include "spruce/cuda/kernels.h"
#include "spruce/cuda/products/gemm.h"

namespace spruce::cuda {

/// The axes of a product.
struct ProductAxes {
  Axes lhs_contract, rhs_contract, lhs_batch, rhs_batch;  ///< as in DotParams
};

/// Its kernels.
Kernels product_kernels(const PrepareArgs& args, const ProductAxes& axes);

/// The same by a library, with what follows the product. Nothing where none takes such operands.
std::optional<Kernels> library_product(const PrepareArgs& args, const ProductAxes& axes,
                                       const Epilogue& epilogue = {});

}  // namespace spruce::cuda
