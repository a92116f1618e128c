// SPDX-License-Identifier: Apache-2.0
// The kernels of the attention primitives, for all floating dtypes.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce::cpu {

/// Inputs query, key, value and perhaps a mask; outputs the result and perhaps the log-sum-exp.
void attention_kernel(const KernelArgs& args);
/// Inputs query, key, value, the result, the log-sum-exp, the cotangent of the result and perhaps a
/// mask; outputs the cotangents of query, key and value.
void attention_grad_kernel(const KernelArgs& args);
/// attention_kernel with memory from the plan.
std::unique_ptr<const PreparedKernel> prepare_attention(const PrepareArgs& args);
/// attention_grad_kernel with memory from the plan.
std::unique_ptr<const PreparedKernel> prepare_attention_grad(const PrepareArgs& args);

}  // namespace spruce::cpu
