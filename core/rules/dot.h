// SPDX-License-Identifier: Apache-2.0
// The primitive behind all products of matrices.
#pragma once

#include "spruce/core/ops/linalg.h"
#include "spruce/core/primitive.h"

namespace spruce {

extern const Primitive dot_general_p, dot_transposed_p;

/// The parameters of a product whose result has its axes in another order: axis i is axis perm[i]
/// of what dot_general gives. Compiling makes it of a product and a transpose.
struct DotTransposedParams {
  Axes lhs_contract;
  Axes rhs_contract;
  Axes lhs_batch;
  Axes rhs_batch;
  Axes perm;

  DotParams dot() const { return {lhs_contract, rhs_contract, lhs_batch, rhs_batch}; }
};

/// `axes` (none negative) as parameters of dot_general; those of products of two matrices are made
/// once.
Params dot_params(const DotParams& axes);

}  // namespace spruce
