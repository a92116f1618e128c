// SPDX-License-Identifier: Apache-2.0
// Elements chosen by arrays of indices, and indices found by conditions. Known indices outside of
// their axis are an IndexError; traced ones (under vmap and jit) take the nearest element.
#pragma once

#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// x[..., indices, ...] at one axis: the axes of `indices` (integers, negative ones count from the
/// end) stand in place of it; take(f32[100,8], i32[5], 0) is f32[5,8]. With none, x is flattened
/// first. Throws IndexError, DtypeError for indices that are no integers. Grad: g added up in rows
/// that were taken.
inline constexpr struct TakeFunction {
  Array operator()(const Array& x, const Array& indices, const AxisArg& axis = none,
                   Loc loc = Loc::current()) const;
} take{};
/// One element for each index: out[i, j] = x[indices[i, j], j] for axis 0. The other axes broadcast
/// against each other. With none, both are flattened first. Grad: g added up where elements were
/// taken.
inline constexpr struct TakeAlongAxisFunction {
  Array operator()(const Array& x, const Array& indices, const AxisArg& axis,
                   Loc loc = Loc::current()) const;
} take_along_axis{};
/// A copy of x with x[indices[i, j], j] = values[i, j] for axis 0; `values` broadcast to the
/// indices. Indices that occur twice keep the last value; traced ones outside of x are left out.
/// Grad: of x, g with zeros there; of values, g there.
inline constexpr struct PutAlongAxisFunction {
  Array operator()(const Array& x, const Array& indices, const Array& values, const AxisArg& axis,
                   Loc loc = Loc::current()) const;
} put_along_axis{};
/// The element of choices[k] where `indices` is k; all broadcast together. Grad: to the choice that
/// was taken.
inline constexpr struct ChooseFunction {
  Array operator()(const Array& indices, const std::vector<Array>& choices,
                   Loc loc = Loc::current()) const;
} choose{};

/// dtype[..., n]: one at the place of each label along a new last axis, zero elsewhere; a row of
/// zeros for labels outside of 0..n-1. Throws DtypeError unless labels are integers, ValueError for
/// n < 0. Gradient: none.
inline constexpr struct OneHotFunction {
  Array operator()(const Array& labels, int64_t n, Dtype dtype = float32,
                   Loc loc = Loc::current()) const;
} one_hot{};
/// i32[length] (i64 if there are more labels than that counts): how often each of 0..length-1
/// occurs in `labels` (integers of any shape). Others are not counted.
inline constexpr struct BincountFunction {
  Array operator()(const Array& labels, int64_t length, Loc loc = Loc::current()) const;
  /// The same as sums of `weights`, which have the shape of the labels. Grad: to the weights that
  /// were counted.
  Array operator()(const Array& labels, int64_t length, const Array& weights,
                   Loc loc = Loc::current()) const;
} bincount{};

/// Where x is not zero: one array i32[n] (i64 for axes that need it) for each axis, in row-major
/// order. The value of x must be known, because the shape depends on it: TracerError under vmap and
/// jit. Rank 0 counts as shape [1].
inline constexpr struct NonzeroFunction {
  std::vector<Array> operator()(const Array& x, Loc loc = Loc::current()) const;
} nonzero{};
/// The same as i32[n, rank].
inline constexpr struct ArgwhereFunction {
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
} argwhere{};

}  // namespace spruce
