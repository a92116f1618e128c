// SPDX-License-Identifier: Apache-2.0
// Attention and its cotangents by cuBLASLt: the scores of a few batches at a time are a matrix in
// the workspace. Scores and their sums are f32 for halves; weights are halves.
#pragma once

#include <optional>

#include "spruce/cuda/codegen/attention.h"

namespace spruce::cuda {

/// attention_p, and with `lse` (dense, f32 or f64) attention_lse_p: by kernels of our own where
/// cuBLASLt has no such products, or where the scores of one batch are too many.
Kernels attention_forward(const PrepareArgs& args, std::optional<Place> lse);

/// attention_grad_p, by the same rule.
Kernels attention_backward(const PrepareArgs& args, const AttentionShape& shape,
                           const AttentionGrad& arrays);

}  // namespace spruce::cuda
