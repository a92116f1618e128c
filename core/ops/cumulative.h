// SPDX-License-Identifier: Apache-2.0
// Running results along one axis; the result has the shape of x. Without an axis they run over
// x.ravel(). Gradients of all of them are right in any order, where elements are zero or equal too.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// Options of cumulative functions.
struct CumulativeOptions {
  bool reverse = false;  ///< from the end of the axis to its beginning
};

/// y[i] = x[0] + ... + x[i]. f16, bf16 and f32 add up in f64; bool and integers narrower than 32
/// bits give i32 (u32 if unsigned). Grad: the running sum of g in the other direction.
inline constexpr struct CumsumFunction {
  Array operator()(const Array& x, const AxisArg& axis = none,
                   const CumulativeOptions& options = {}, Loc loc = Loc::current()) const;
} cumsum{};
/// y[i] = x[0] ... x[i]. Dtypes as in cumsum.
inline constexpr struct CumprodFunction {
  Array operator()(const Array& x, const AxisArg& axis = none,
                   const CumulativeOptions& options = {}, Loc loc = Loc::current()) const;
} cumprod{};
/// y[i] = the largest of x[0] ... x[i]. Grad: g to the elements that equal y, in equal shares.
inline constexpr struct CummaxFunction {
  Array operator()(const Array& x, const AxisArg& axis = none,
                   const CumulativeOptions& options = {}, Loc loc = Loc::current()) const;
} cummax{};
/// y[i] = the smallest of x[0] ... x[i].
inline constexpr struct CumminFunction {
  Array operator()(const Array& x, const AxisArg& axis = none,
                   const CumulativeOptions& options = {}, Loc loc = Loc::current()) const;
} cummin{};
/// y[i] = log(exp(x[0]) + ... + exp(x[i])), computed without overflow in f64; integers give f32.
inline constexpr struct CumlogsumexpFunction {
  Array operator()(const Array& x, const AxisArg& axis = none,
                   const CumulativeOptions& options = {}, Loc loc = Loc::current()) const;
} cumlogsumexp{};

/// Options of diff.
struct DiffOptions {
  int64_t n = 1;   ///< how often
  Axis axis = -1;  ///< along which axis
};
/// y[i] = x[i + 1] - x[i]: one element less along the axis. Throws ValueError for a negative n.
inline constexpr struct DiffFunction {
  Array operator()(const Array& x, const DiffOptions& options = {}, Loc loc = Loc::current()) const;
} diff{};

}  // namespace spruce
