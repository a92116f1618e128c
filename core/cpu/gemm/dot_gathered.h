// SPDX-License-Identifier: Apache-2.0
// Contractions over axes that are not one in both operands: these are copied where that makes them
// one.
#pragma once

#include "spruce/core/ops/linalg.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// For operands of these types; these and the result are dense, in row-major order.
std::unique_ptr<const PreparedKernel> prepare_gathered_dot(const Aval& a, const Aval& b,
                                                           const DotParams& d);

}  // namespace spruce::cpu
