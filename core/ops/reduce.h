// SPDX-License-Identifier: Apache-2.0
// Reductions over axes: one, several, or (the default) all. In the comments f32[n, k] stands for
// any shape, g for the cotangent of the result y, broadcast back along the reduced axes. Negative
// axes count from the end; an axis that is out of range or named twice is a ShapeError. Long sums
// of floats are made in blocks, so that their error grows with the logarithm of the length; results
// do not depend on the number of threads.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/ops/create.h"

namespace spruce {

/// Options of most reductions.
struct ReduceOptions {
  bool keepdims = false;  ///< keep the reduced axes with size 1
};

/// The sum over axes; 0 over no elements. f16 and bf16 accumulate in f32; bool and integers
/// narrower than 32 bits sum as i32 (u32 if unsigned); integers wrap. Grad: g.
Array sum(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// The product over axes; 1 over no elements. Dtypes as in sum. Grad: g times the product of the
/// other elements, right where elements are zero too.
Array prod(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
           Loc loc = Loc::current());
/// The arithmetic mean; NaN over no elements. Integers and bool give f32; f16 and bf16 are divided
/// before they are rounded. Grad: g / n.
Array mean(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
           Loc loc = Loc::current());
/// The mean of x with the given weights, which have its shape or broadcast to it. Throws
/// ShapeError.
Array average(const Array& x, const Array& weights, const AxisArg& axes = none,
              const ReduceOptions& options = {}, Loc loc = Loc::current());

/// The middle element in sorted order, or the mean of the two middle ones; NaN where there is one.
/// Dtypes as in mean. Throws ShapeError for no elements. Grad: g to the elements that make y.
Array median(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
             Loc loc = Loc::current());

/// Options of var and std.
struct VarOptions {
  int64_t ddof = 0;       ///< the sum of squares is divided by n - ddof
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// The mean of the squared distance to the mean, in two passes. Dtypes as in mean. Grad: 2 g (x -
/// mean) / (n - ddof).
Array var(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
          Loc loc = Loc::current());
/// The square root of var. Grad: g (x - mean) / ((n - ddof) y), not finite where y is 0.
Array std(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
          Loc loc = Loc::current());

/// The largest element, NaN where there is one; maximum(a, b) compares two arrays. Throws
/// ShapeError for no elements. Grad: g to the elements that equal y, in equal shares.
Array max(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// The smallest element, as max.
Array min(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// max - min.
Array ptp(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// bool: whether any element is not zero; false for no elements.
Array any(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// bool: whether every element is not zero; true for no elements.
Array all(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
          Loc loc = Loc::current());
/// i32: how many elements are not zero.
Array count_nonzero(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                    Loc loc = Loc::current());

/// Options of argmax and argmin.
struct ArgOptions {
  bool keepdims = false;  ///< keep the reduced axes with size 1
  Dtype dtype = int32;    ///< of the positions: an integer dtype
};
/// The position along `axis` of the first largest element, or of the first NaN; without an axis, in
/// x.ravel(). Throws ShapeError for no elements. No gradient.
Array argmax(const Array& x, const AxisArg& axis = none, const ArgOptions& options = {},
             Loc loc = Loc::current());
/// The same of the smallest.
Array argmin(const Array& x, const AxisArg& axis = none, const ArgOptions& options = {},
             Loc loc = Loc::current());

/// log(sum(exp(x))) without overflow; -inf over no elements and over such that are all -inf (where
/// the gradient is 0). f16 and bf16 are computed in f32; integers give f32. Grad: g exp(x - y).
Array logsumexp(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                Loc loc = Loc::current());

/// Options of norm.
struct NormOptions {
  double ord = 2;  ///< (sum |x|^ord)^(1/ord); also 0 (how many are not zero), infinity (the largest
                   ///< |x|) and -infinity (the smallest)
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// The norm of the elements along the axes, taken as one vector (over two axes, ord 2 is
/// Frobenius'). 0 over no elements. f16 and bf16 are computed in f32; integers give f32. Throws
/// ShapeError for ord -infinity over no elements. Grad for ord 2: g x / y, 0 where y is 0.
Array norm(const Array& x, const AxisArg& axes = none, const NormOptions& options = {},
           Loc loc = Loc::current());

/// The sum of what is not NaN; 0 if there is nothing.
Array nansum(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
             Loc loc = Loc::current());
/// The mean of what is not NaN; NaN if there is nothing.
Array nanmean(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
              Loc loc = Loc::current());
/// The largest element that is not NaN; NaN if there is none. Throws ShapeError for no elements.
Array nanmax(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
             Loc loc = Loc::current());
/// The smallest one, as nanmax.
Array nanmin(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
             Loc loc = Loc::current());

}  // namespace spruce
