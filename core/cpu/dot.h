// SPDX-License-Identifier: Apache-2.0
// The kernel of dot_general.
#pragma once

#include "spruce/core/cpu/contraction.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// The kernel of dot_general.
void dot_kernel(const KernelArgs& args);
/// The same with loops and product settled: to the bit what dot_kernel gives.
std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args);
/// For a product of the contraction's types; null where its contracted axes are not one.
std::unique_ptr<const PreparedKernel> prepare_contraction(const Contraction& c);
/// True if `part`, which is `whole` for some of the places along an axis that is not summed, gives
/// the same bits.
bool same_bits(const Contraction& whole, const Contraction& part);

}  // namespace spruce::cpu
