// SPDX-License-Identifier: Apache-2.0
// Attention that reads heads where they stand in other arrays, such as one projection for query,
// key and value, and writes its results in another order. Compiling makes it of the dense
// primitives.
#pragma once

#include "spruce/core/rules/attention.h"

namespace spruce {

/// The parameters of attention on operands that stand in larger arrays, by offsets and steps in
/// elements.
struct AttentionStridedParams {
  double scale;    ///< of the scores, query times key
  bool causal;     ///< query i attends to keys 0 to i
  Shape query;     ///< [..., t, d], as the dense primitive takes it
  int64_t keys;    ///< s
  int64_t values;  ///< e
  /// For each operand the number of the input, the offset of its first element and, but for the
  /// last axis, the step along each axis.
  std::vector<int64_t> views;
  Axes perm;       ///< axis i of a result is axis perm[i] of the dense one; the last one stays
  int64_t joined;  ///< of cotangents: the axis along which they are stacked; -1 for three
};

/// The operands are query, key and value, the outputs those of attention_lse_p, of which the first
/// is transposed. f32 or f64, no mask.
extern const Primitive attention_lse_strided_p;

/// The operands are query, key, value, the result and its cotangent. The last input is the
/// log-sum-exp. The outputs are those of attention_grad_p, transposed, or all in one.
extern const Primitive attention_grad_strided_p;

namespace rules {

/// How an operand or a result stands in memory.
struct StridedView {
  Shape shape;         ///< as the dense primitive has it
  size_t input = 0;    ///< the number of the input
  int64_t offset = 0;  ///< of the first element, in elements
  Shape steps;         ///< of all axes
};

/// What the parameters say of the operands; throws if there are no `count` that fit the inputs.
std::vector<StridedView> strided_operands(const char* op, Avals in, const Params& params,
                                          size_t count);
/// The same of values.
std::vector<StridedView> strided_operands_of(std::span<const Array> in, const Params& params,
                                             size_t count);
/// A result of the dense shape that stands in an array of shape `out`.
StridedView strided_result(const Shape& dense, const Axes& perm, const Shape& out, int64_t joined,
                           int64_t part);
/// The shape in which a result is written, or `parts` of them stacked along `joined`.
Shape strided_shape(const char* op, const Shape& dense, const Axes& perm, int64_t joined,
                    int64_t parts);
/// Samples in f64 and f32: inputs of these shapes with these parameters.
std::vector<Sample> strided_samples(const std::vector<std::vector<Shape>>& inputs,
                                    const std::vector<AttentionStridedParams>& params);

}  // namespace rules
}  // namespace spruce
