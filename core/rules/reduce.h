// SPDX-License-Identifier: Apache-2.0
// What reductions and cumulative operations have in common.
#pragma once

#include "spruce/core/primitive.h"

namespace spruce {

/// Reductions over axes (ReduceParams), positions along one (ArgReduceParams), and what accumulates
/// along one (CumulativeParams).
extern const Primitive reduce_sum_p, reduce_prod_p, reduce_max_p, reduce_min_p, reduce_and_p,
    reduce_or_p, argmax_p, argmin_p, cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p;

/// The axes that are reduced, rising; the output does not have them.
struct ReduceParams {
  Axes axes;  ///< none negative, each once
};
/// argmax and argmin: one axis, and the dtype of the positions.
struct ArgReduceParams {
  int64_t axis = 0;                   ///< not negative
  Dtype index_dtype = Dtype::kInt32;  ///< an integer one
};
/// Cumulative operations: one axis, and the direction.
struct CumulativeParams {
  int64_t axis = 0;      ///< not negative
  bool reverse = false;  ///< from the last element to the first
};

namespace rules {

/// Shape rules of reductions over any dtype, over numbers, over bool and integers, and of those
/// that need an element.
Aval reduced(const ShapeArgs& a);
/// Anything but bool.
Aval reduced_numeric(const ShapeArgs& a);
/// Bool and integers.
Aval reduced_integral(const ShapeArgs& a);
/// Any dtype; throws ShapeError where a reduced axis has no elements.
Aval reduced_nonempty(const ShapeArgs& a);
/// The same for positions: the result has the dtype of ArgReduceParams.
Aval arg_reduced(const ShapeArgs& a);
/// Shape rule of cumulative operations on numbers and on floating values.
Aval cumulative(const ShapeArgs& a);
/// The same for floating values only.
Aval cumulative_floating(const ShapeArgs& a);

/// `axes` of `shape` taken out.
Shape without_axes(const Shape& shape, const Axes& axes);
/// `x` in the dtype that integers add up in: of 32 bits at least.
Array summable(const Array& x);
/// `y`, a reduction over `axes` of something of that shape, repeated along them.
Array broadcast_reduced(const Array& y, const Shape& shape, const Axes& axes);

/// jvp of reduce_max and reduce_min: the mean of the tangents of all elements that equal the
/// result.
void jvp_extremum(const JvpArgs& a);
/// vmap of reductions.
void batch_reduce(const BatchArgs& a);
/// vmap of argmax and argmin.
void batch_arg_reduce(const BatchArgs& a);
/// vmap of cumulative operations.
void batch_cumulative(const BatchArgs& a);

/// Samples of f32 over all kinds of axes, also over axes without elements.
std::vector<Sample> reduce_samples();
/// The same without reductions of no elements.
std::vector<Sample> reduce_nonempty_samples();
/// As reduce_samples(), of bool and i32.
std::vector<Sample> reduce_bool_samples();
/// Samples of argmax and argmin, with positions of i32 and i64.
std::vector<Sample> arg_reduce_samples();
/// Samples of cumulative operations in both directions.
std::vector<Sample> cumulative_samples();

}  // namespace rules
}  // namespace spruce
