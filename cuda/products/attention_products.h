// SPDX-License-Identifier: Apache-2.0
// Attention and its cotangents by cuBLASLt: the scores of a few batches at a time are a matrix in
// the workspace. Scores and their sums are f32 for halves; weights are halves.
#pragma once

#include <optional>

#include "spruce/cuda/codegen/attention.h"

namespace spruce::cuda {

/// As attention_kernels(). Nothing where cuBLASLt has no such products, or where the scores of one
/// batch are too many.
std::optional<Kernels> library_attention(const PrepareArgs& args, const AttentionShape& shape,
                                         const AttentionArray& query, const AttentionArray& key,
                                         const AttentionArray& value, const AttentionArray& result,
                                         std::optional<Place> lse);

/// As attention_grad_kernels(). Nothing in the same cases.
std::optional<Kernels> library_attention_grad(const PrepareArgs& args, const AttentionShape& shape,
                                              const AttentionGrad& arrays);

}  // namespace spruce::cuda
