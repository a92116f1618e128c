// SPDX-License-Identifier: Apache-2.0
// What reductions and cumulative operations have in common.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

extern const Primitive reduce_sum_p, reduce_prod_p, reduce_max_p, reduce_min_p, reduce_and_p,
    reduce_or_p, argmax_p, argmin_p, cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p;

/// The axes that are reduced, rising; the output does not have them.
struct ReduceParams {
  Axes axes;
};
/// argmax and argmin: one axis, and the dtype of the positions.
struct ArgReduceParams {
  int64_t axis = 0;
  Dtype index_dtype = Dtype::kInt32;
};
struct CumulativeParams {
  int64_t axis = 0;
  bool reverse = false;
};

namespace rules {

/// Shape rules of reductions over any dtype, over numbers, over bool and integers, and of those
/// that need an element.
Aval reduced(const ShapeArgs& a);
Aval reduced_numeric(const ShapeArgs& a);
Aval reduced_integral(const ShapeArgs& a);
Aval reduced_nonempty(const ShapeArgs& a);
Aval arg_reduced(const ShapeArgs& a);
/// Shape rule of cumulative operations on numbers and on floating values.
Aval cumulative(const ShapeArgs& a);
Aval cumulative_floating(const ShapeArgs& a);

/// `axes` of `shape` taken out.
Shape without_axes(const Shape& shape, const Axes& axes);
/// `y`, a reduction over `axes` of something of that shape, repeated along them.
Array broadcast_reduced(const Array& y, const Shape& shape, const Axes& axes);

/// jvp of reduce_max and reduce_min: the mean of the tangents of all elements that equal the
/// result.
void jvp_extremum(const JvpArgs& a);
void batch_reduce(const BatchArgs& a);
void batch_arg_reduce(const BatchArgs& a);
void batch_cumulative(const BatchArgs& a);

/// Samples over all kinds of axes; kNonEmpty leaves out reductions of no elements.
std::vector<Sample> reduce_samples();
std::vector<Sample> reduce_nonempty_samples();
std::vector<Sample> reduce_bool_samples();
std::vector<Sample> arg_reduce_samples();
std::vector<Sample> cumulative_samples();

}  // namespace rules
}  // namespace spruce
