// SPDX-License-Identifier: Apache-2.0
// The primitive behind all products of matrices.
#pragma once

#include "spruce/core/ops/linalg.h"
#include "spruce/core/primitive.h"

namespace spruce {

extern const Primitive dot_general_p;

/// `axes` (none negative) as parameters of dot_general; those of products of two matrices are made
/// once.
Params dot_params(const DotParams& axes);

}  // namespace spruce
