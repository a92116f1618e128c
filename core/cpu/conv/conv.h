// SPDX-License-Identifier: Apache-2.0
// Convolutions on the CPU.
#pragma once

#include "spruce/core/rules/conv_plan.h"
#include "spruce/core/rules/row_blocks.h"

namespace spruce::cpu {

/// Any convolution of floats or doubles, by matrix products over gathered windows.
template <class T>
void conv_by_gemm(const ConvPlan& c, const T* lhs, const T* rhs, T* out);
/// Bytes of workspace that it takes on the thread that calls it.
template <class T>
size_t conv_by_gemm_workspace(const ConvPlan& c);

/// The kernel of conv_general.
void conv_kernel(const KernelArgs& args);
/// The same, with memory for the time of a call from the plan.
std::unique_ptr<const PreparedKernel> prepare_conv(const PrepareArgs& args);
/// The rule for Primitive::rows.
rules::RowReads rows_of_conv(const RowArgs& args);

}  // namespace spruce::cpu
