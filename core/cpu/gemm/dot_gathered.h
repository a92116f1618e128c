// SPDX-License-Identifier: Apache-2.0
// Contractions over axes that are not one in both operands: these are copied where that makes them
// one.
#pragma once

#include "spruce/core/ops/linalg.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// For operands of these types, dense in row-major order. Axis i of the result is axis perm[i] of
/// what dot_general gives; an empty perm is its own order.
std::unique_ptr<const PreparedKernel> prepare_gathered_dot(const Aval& a, const Aval& b,
                                                           const DotParams& d, const Axes& perm);

}  // namespace spruce::cpu
