// SPDX-License-Identifier: Apache-2.0
// The primitive behind all products of matrices.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/rules/dot_params.h"

namespace spruce {

/// Products of two arrays over pairs of axes; the second one with the axes of the result in any
/// order.
extern const Primitive dot_general_p, dot_transposed_p;

/// The parameters of a product whose result has its axes in another order: axis i is axis perm[i]
/// of what dot_general gives. Compiling makes it of a product and a transpose.
struct DotTransposedParams {
  Axes lhs_contract;  ///< axes of the first array that are summed over ...
  Axes rhs_contract;  ///< ... with these of the second one
  Axes lhs_batch;     ///< axes of the first array that go along ...
  Axes rhs_batch;     ///< ... with these of the second one
  Axes perm;          ///< the axes of the dense product in the order of the result

  /// The product without the order.
  DotParams dot() const { return {lhs_contract, rhs_contract, lhs_batch, rhs_batch}; }
};

/// `axes` (none negative) as parameters of dot_general; those of products of two matrices are made
/// once.
Params dot_params(const DotParams& axes);

namespace rules {

/// The axes of rank `rank` that are in neither list, rising.
Axes free_axes(int rank, const Axes& contract, const Axes& batch);

}  // namespace rules

}  // namespace spruce
