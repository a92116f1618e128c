// SPDX-License-Identifier: Apache-2.0
// The kernel of dot_general.
#pragma once

#include "spruce/core/cpu/gemm/contraction.h"
#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// The kernel of dot_general.
void dot_kernel(const KernelArgs& args);
/// The same with loops and product settled: to the bit what dot_kernel gives.
std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args);
/// Both for a result whose axis i is axis perm[i] of dot_general's; empty for its own order.
void run_dot(const KernelArgs& args, const DotParams& d, const Axes& perm = {});
std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args, const DotParams& d,
                                                  const Axes& perm = {});
/// True if `part`, which is `whole` for some of the places along an axis that is not summed, gives
/// the same bits.
bool same_bits(const Contraction& whole, const Contraction& part);

}  // namespace spruce::cpu
