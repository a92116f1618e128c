// SPDX-License-Identifier: Apache-2.0
// The attention primitives: softmax(scale query key^T) value and its derivatives.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// The parameters of all primitives of attention.
struct AttentionParams {
  double scale;  ///< of the scores, query times key
  bool causal;   ///< query i attends to keys 0 to i
};

/// Inputs: query f[..., t, d], key f[..., s, d], value f[..., s, e] with equal leading axes and
/// perhaps, unless causal, a mask that broadcasts to [..., t, s]: bool, true where a query may
/// attend to a key, or of the query's dtype, added to the scores. A query that a mask lets attend
/// to no key gives zeros.
extern const Primitive attention_p;

/// The same with a second output, f[..., t]: log(sum(exp(scores))) of each query, f32 for f16 and
/// bf16; infinite for a query that may attend to no key. What derivatives need instead of weights.
extern const Primitive attention_lse_p;

/// The tangent of attention_p, linear in the last three inputs but the mask. Inputs: query, key,
/// value, both outputs of attention_lse_p, the tangents of query, key and value, and perhaps a mask
/// as above. It has no kernel, its transpose is attention_grad_p.
extern const Primitive attention_tangent_p;

/// The cotangents of query, key and value. Inputs: query, key, value, both outputs of
/// attention_lse_p, the cotangent of the first one, and perhaps a mask as above.
extern const Primitive attention_grad_p;

namespace rules {

/// The type of attention's result. Checks query, key, value and, if there is one, the mask at
/// `mask`.
Aval attention_result(const ShapeArgs& a, size_t mask);
/// The type of the log-sum-exp of queries.
Aval attention_lse(const Aval& query);
/// Throws if input i has another type than `want`.
void check_attention_input(const ShapeArgs& a, size_t i, const char* what, const Aval& want);
/// Throws if inputs 3 and 4 are not what attention_lse_p gives with the result `out`. In 16 bits
/// the log-sum-exp may be so too.
void check_attention_residuals(const ShapeArgs& a, const Aval& out);

/// The floating-point operations of attention for operands of these shapes, of which only the last
/// two sizes of `value` count.
double attention_flops(const Shape& query, const Shape& value);
/// The same of its cotangents.
double attention_grad_flops(const Shape& query, const Shape& value);

/// Whether the kernels take an operand with these strides: rows are dense, in f32 and f64 (16 bits
/// are widened in a copy). Not asked about the log-sum-exp, which is dense.
bool attention_takes_strides(const StridesArgs& a);

/// vmap: the mapped axis becomes another leading axis. The mask, if there is one, is at kMask.
void batch_attention(const BatchArgs& a, size_t mask);
template <size_t kMask>
void batch_attention(const BatchArgs& a) {
  batch_attention(a, kMask);
}

/// Samples of attention_p, the mask last.
std::vector<Sample> attention_samples();
/// The same for derivatives: query, key, value, result and log-sum-exp, then what `add` appends to
/// their shapes, then the mask.
std::vector<Sample> attention_residual_samples(void (*add)(std::vector<Shape>&));

}  // namespace rules

}  // namespace spruce
