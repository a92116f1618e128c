// SPDX-License-Identifier: Apache-2.0
// Functions that move elements without changing them. All keep the dtype (but astype) and take
// every dtype. The gradient of each puts the cotangent g back where the elements came from and adds
// what was repeated.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// The same elements in row-major order with another shape; one size may be -1. Shares the memory.
/// Throws ShapeError if the number of elements differs. Grad: g reshaped back.
Array reshape(const Array& x, const Shape& shape, Loc loc = Loc::current());
/// f32[2,3] -> f32[6]. Shares the memory.
Array ravel(const Array& x, Loc loc = Loc::current());
/// The same as ravel.
Array flatten(const Array& x, Loc loc = Loc::current());
/// `x` repeated along new leading axes and along axes of size 1, as NumPy broadcasts. Throws
/// ShapeError. Grad: g summed over the repeated axes.
Array broadcast_to(const Array& x, const Shape& shape, Loc loc = Loc::current());
/// All arrays broadcast to their common shape. Throws ShapeError.
std::vector<Array> broadcast_arrays(std::span<const Array> arrays, Loc loc = Loc::current());
std::vector<Array> broadcast_arrays(std::initializer_list<Array> arrays, Loc loc = Loc::current());
/// The elements converted: floats to integers toward zero, saturating, NaN as 0; to bool as x != 0;
/// integers wrap. Grad: g converted back between floating dtypes, otherwise none.
Array astype(const Array& x, Dtype dtype, Loc loc = Loc::current());
/// The bits of each element read as another dtype of the same size. Throws DtypeError. No gradient.
Array bitcast(const Array& x, Dtype dtype, Loc loc = Loc::current());
/// The same elements in memory of their own.
Array copy(const Array& x, Loc loc = Loc::current());

/// Axes of size 1 put in at `axis` (of the result; negative ones count from its end).
Array expand_dims(const Array& x, const AxisArg& axis, Loc loc = Loc::current());
/// Axes of size 1 taken out: those named, or all. Throws ShapeError for one of another size.
Array squeeze(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current());
/// Axes in a new order: axis i of the result is axis axes[i] of x; none reverses them. Throws
/// ShapeError unless each is named once.
Array transpose(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current());
/// Two axes exchanged.
Array swapaxes(const Array& x, int64_t a, int64_t b, Loc loc = Loc::current());
/// Axes `source` moved to the places `destination` of the result, the others in their order.
Array moveaxis(const Array& x, const AxisArg& source, const AxisArg& destination,
               Loc loc = Loc::current());

}  // namespace spruce
