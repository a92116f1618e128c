// SPDX-License-Identifier: Apache-2.0
// Attention and its cotangents without a matrix of scores: each warp has a few rows, keys or
// queries, and meets the rows of the other side tile by tile.
#pragma once

#include <optional>

#include "spruce/cuda/codegen/strided.h"

namespace spruce::cuda {

/// An operand or a result: [batch..., rows, size] by steps, the last of which is 1.
struct AttentionArray {
  Place place;  ///< the array
  Shape steps;  ///< along all axes, in elements
};

/// What all kernels of one application share.
struct AttentionShape {
  Dtype dtype;                 ///< of all but the mask and what the log-sum-exp has
  Shape batch;                 ///< the leading axes
  int64_t queries, keys;       ///< t and s
  int64_t size, value_size;    ///< d and e
  double scale;                ///< of the scores
  bool causal;                 ///< query i sees keys 0 to i
  std::optional<size_t> mask;  ///< the input that is the mask
};

/// attention_p, and with `lse` (dense, f32 or f64) attention_lse_p.
void attention_kernels(const PrepareArgs& args, const AttentionShape& shape,
                       const AttentionArray& query, const AttentionArray& key,
                       const AttentionArray& value, const AttentionArray& result,
                       std::optional<Place> lse, Kernels& out);

/// What attention_grad_p has as inputs and outputs, besides the mask.
struct AttentionGrad {
  AttentionArray query, key, value, result, cotangent;  ///< inputs
  Place lse;                                            ///< dense
  Dtype lse_dtype;                                      ///< of it
  AttentionArray query_ct, key_ct, value_ct;            ///< outputs
};
/// attention_grad_p.
void attention_grad_kernels(const PrepareArgs& args, const AttentionShape& shape,
                            const AttentionGrad& arrays, Kernels& out);

/// The steps along the axes of a batch.
Shape leading_steps(const AttentionArray& array);
/// The shape of the primitives, whose mask would be input `mask`.
AttentionShape attention_shape(const PrepareArgs& args, size_t mask);
/// An input.
AttentionArray input_array(const PrepareArgs& args, size_t i);
/// An output.
AttentionArray output_array(const PrepareArgs& args, size_t k);

}  // namespace spruce::cuda
