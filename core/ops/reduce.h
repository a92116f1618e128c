// SPDX-License-Identifier: Apache-2.0
// Reductions over axes: one, several, or (the default) all. In the comments f32[n, k] stands for
// any shape, g for the cotangent of the result y, broadcast back along the reduced axes. Negative
// axes count from the end; an axis that is out of range or named twice is a ShapeError. Long sums
// of floats are made in blocks, so that their error grows with the logarithm of the length; results
// do not depend on the number of threads.
#pragma once

#include <optional>

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
inline constexpr struct SumFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} sum{};
/// The product over axes; 1 over no elements; 0 if one element is 0 and all are finite, whichever
/// product of others overflows. Dtypes as in sum. Grad: g times the product of the other elements,
/// right where elements are zero too.
inline constexpr struct ProdFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} prod{};
/// The arithmetic mean; NaN over no elements. Integers and bool give f32; f16 and bf16 are divided
/// before they are rounded. Grad: g / n.
inline constexpr struct MeanFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} mean{};
/// The mean of x with the given weights, which have its shape or broadcast to it. Throws
/// ShapeError.
inline constexpr struct AverageFunction {
  Array operator()(const Array& x, const Array& weights, const AxisArg& axes = none,
                   const ReduceOptions& options = {}, Loc loc = Loc::current()) const;
} average{};

/// The middle element in sorted order, or the mean of the two middle ones; NaN where there is one.
/// Dtypes as in mean. Throws ShapeError for no elements. Grad: g to the elements that make y.
inline constexpr struct MedianFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} median{};

/// Options of var and std.
struct VarOptions {
  int64_t ddof = 0;       ///< the sum of squares is divided by n - ddof
  bool keepdims = false;  ///< keep the reduced axes with size 1
};
/// The mean of the squared distance to the mean, in two passes. Dtypes as in mean. Grad: 2 g (x -
/// mean) / (n - ddof).
inline constexpr struct VarFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
                   Loc loc = Loc::current()) const;
} var{};
/// The square root of var. Grad: g (x - mean) / ((n - ddof) y), not finite where y is 0.
inline constexpr struct StdFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const VarOptions& options = {},
                   Loc loc = Loc::current()) const;
} std{};

/// The largest element, NaN where there is one; maximum(a, b) compares two arrays. Throws
/// ShapeError for no elements. Grad: g to the elements that equal y, in equal shares.
inline constexpr struct MaxFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} max{};
/// The smallest element, as max.
inline constexpr struct MinFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} min{};
/// max - min.
inline constexpr struct PtpFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} ptp{};
/// bool: whether any element is not zero; false for no elements.
inline constexpr struct AnyFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} any{};
/// bool: whether every element is not zero; true for no elements.
inline constexpr struct AllFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} all{};
/// How many elements are not zero: i32, or i64 for arrays of 2^31 elements and more.
inline constexpr struct CountNonzeroFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} count_nonzero{};

/// Options of argmax and argmin.
struct ArgOptions {
  bool keepdims = false;  ///< keep the reduced axes with size 1
  /// Of the positions: an integer dtype that has them all. i32, or i64 for axes that need it.
  std::optional<Dtype> dtype = {};
};
/// The position along `axis` of the first largest element, or of the first NaN; without an axis, in
/// x.ravel(). Throws ShapeError for no elements, DtypeError for a dtype that does not have the last
/// position. No gradient.
inline constexpr struct ArgmaxFunction {
  Array operator()(const Array& x, const AxisArg& axis = none, const ArgOptions& options = {},
                   Loc loc = Loc::current()) const;
} argmax{};
/// The same of the smallest.
inline constexpr struct ArgminFunction {
  Array operator()(const Array& x, const AxisArg& axis = none, const ArgOptions& options = {},
                   Loc loc = Loc::current()) const;
} argmin{};

/// log(sum(exp(x))) without overflow; -inf over no elements and over such that are all -inf (where
/// the gradient is 0). f16 and bf16 are computed in f32; integers give f32. Grad: g exp(x - y).
inline constexpr struct LogsumexpFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} logsumexp{};

/// The sum of what is not NaN; 0 if there is nothing.
inline constexpr struct NansumFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} nansum{};
/// The mean of what is not NaN; NaN if there is nothing.
inline constexpr struct NanmeanFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanmean{};
/// The largest element that is not NaN; NaN if there is none. Throws ShapeError for no elements.
inline constexpr struct NanmaxFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanmax{};
/// The smallest one, as nanmax.
inline constexpr struct NanminFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, const ReduceOptions& options = {},
                   Loc loc = Loc::current()) const;
} nanmin{};

}  // namespace spruce
