// SPDX-License-Identifier: Apache-2.0
// The kernel of dot_general.
#pragma once

#include "spruce/core/cpu/gemm/contraction.h"
#include "spruce/core/primitive.h"
#include "spruce/core/rules/row_blocks.h"

namespace spruce::cpu {

/// The kernel of dot_general.
void dot_kernel(const KernelArgs& args);
/// The same with loops and product settled: to the bit what dot_kernel gives.
std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args);
/// Both for a result whose axis i is axis perm[i] of dot_general's; empty for its own order.
void run_dot(const KernelArgs& args, const DotParams& d, const Axes& perm = {});
std::unique_ptr<const PreparedKernel> prepare_dot(const PrepareArgs& args, const DotParams& d,
                                                  const Axes& perm = {});
/// The rule for Primitive::rows of the first form, and of the second one.
rules::RowReads rows_of_dot(const RowArgs& args);
rules::RowReads rows_of_dot(const RowArgs& args, const DotParams& d, const Axes& perm);

}  // namespace spruce::cpu
