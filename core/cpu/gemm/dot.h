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
/// The rule for Primitive::takes_strides: contracted axes that are one, rows or columns of an
/// operand that are dense, and in the result at least eight elements side by side.
bool dot_takes_strides(const StridesArgs& args);
/// The rule for Primitive::rows.
rules::RowReads rows_of_dot(const RowArgs& args);

}  // namespace spruce::cpu
