// SPDX-License-Identifier: Apache-2.0
// Windows of a fixed size at positions that are computed: the slices that jit, vmap and loops can
// move about.
#pragma once

#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// The window of shape `sizes` of x that begins at `starts`, one integer of rank 0 for each axis.
/// A negative start counts from the end of its axis once; then it is moved to where the window
/// fits. `starts` may be traced: the shape does not depend on them. Throws ShapeError unless there
/// are a start and a size for each axis and the window is not larger than x, DtypeError for starts
/// that are no integers. Grad: g in the window, zeros elsewhere; none for starts.
inline constexpr struct DynamicSliceFunction {
  Array operator()(const Array& x, const std::vector<Array>& starts, const Shape& sizes,
                   Loc loc = Loc::current()) const;
} dynamic_slice{};
/// A copy of x with `update`, of x's dtype and rank, in the place that begins at `starts`; memory
/// that nobody else holds is reused. Starts are taken and moved as by dynamic_slice. Throws as it,
/// and DtypeError where the dtypes differ. Grad: of x, g with zeros in the window; of update, g
/// there.
inline constexpr struct DynamicUpdateSliceFunction {
  Array operator()(Array x, const Array& update, const std::vector<Array>& starts,
                   Loc loc = Loc::current()) const;
} dynamic_update_slice{};

/// `size` entries of one axis from `start`, with the other axes whole.
inline constexpr struct DynamicSliceInDimFunction {
  Array operator()(const Array& x, const Array& start, int64_t size, Axis axis = 0,
                   Loc loc = Loc::current()) const;
} dynamic_slice_in_dim{};
/// A copy of x with `update` from `start` along one axis; it begins at 0 in the other axes.
inline constexpr struct DynamicUpdateSliceInDimFunction {
  Array operator()(Array x, const Array& update, const Array& start, Axis axis = 0,
                   Loc loc = Loc::current()) const;
} dynamic_update_slice_in_dim{};

}  // namespace spruce
