// SPDX-License-Identifier: Apache-2.0
// The primitive behind all products of matrices.
#pragma once

#include "spruce/core/primitive.h"
#include "spruce/core/rules/dot_params.h"

namespace spruce {

/// Products of two arrays over pairs of axes.
extern const Primitive dot_general_p;

/// `axes` (none negative) as parameters of dot_general; those of products of two matrices are made
/// once.
Params dot_params(const DotParams& axes);

namespace rules {

/// The axes of rank `rank` that are in neither list, rising.
Axes free_axes(int rank, const Axes& contract, const Axes& batch);

}  // namespace rules

}  // namespace spruce
