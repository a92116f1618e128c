// SPDX-License-Identifier: Apache-2.0
#include "spruce/core/ops/linalg.h"
#include "spruce/core/rules/dot.h"
#include "spruce/cuda/products/product.h"

namespace spruce::cuda {
namespace {

Kernels make_dot_general(const PrepareArgs& a) {
  const auto& p = a.params.get<DotParams>();
  return product_kernels(a, {p.lhs_contract, p.rhs_contract, p.lhs_batch, p.rhs_batch});
}

}  // namespace

extern const Twin dot_general_twin = {&dot_general_p, make_dot_general};

}  // namespace spruce::cuda
