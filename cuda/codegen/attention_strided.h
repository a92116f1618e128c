// SPDX-License-Identifier: Apache-2.0
// The arrays of the strided primitives of attention.
#pragma once

#include <vector>

#include "spruce/core/rules/attention_strided.h"
#include "spruce/cuda/codegen/attention.h"

namespace spruce::cuda {

/// The operands that the parameters name.
std::vector<AttentionArray> strided_inputs(const char* op, const PrepareArgs& args, size_t count);
/// A result of the dense shape in an output, which holds several where they are joined.
AttentionArray strided_output(const Shape& dense, const Axes& perm, const Shape& shape,
                              int64_t joined, size_t output, int64_t part);
/// The sizes.
AttentionShape strided_attention(const PrepareArgs& args);

}  // namespace spruce::cuda
