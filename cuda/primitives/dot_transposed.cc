// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/linalg.h"
#include "spruce/core/rules/dot.h"
#include "spruce/cuda/products/product.h"

namespace spruce::cuda {
namespace {

Kernels make_dot_transposed(const PrepareArgs& a) {
  const auto& p = a.params.get<DotTransposedParams>();
  return product_kernels(a, {p.lhs_contract, p.rhs_contract, p.lhs_batch, p.rhs_batch, p.perm});
}

}  // namespace

extern const Twin dot_transposed_twin = {&dot_transposed_p, make_dot_transposed};

}  // namespace spruce::cuda
