// SPDX-License-Identifier: Apache-2.0
// Arrays joined, cut up and repeated. Arrays of several dtypes are promoted first
// (docs/promotion.md); gradients go back to where the elements came from and are added up where
// they were repeated.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// Arrays joined along an axis that they have: f32[2,3] and f32[4,3] along axis 0 make f32[6,3].
/// Throws ShapeError if other sizes differ, ValueError for no arrays.
Array concatenate(std::span<const Array> arrays, int64_t axis = 0, Loc loc = Loc::current());
Array concatenate(std::initializer_list<Array> arrays, int64_t axis = 0, Loc loc = Loc::current());
/// Arrays of one shape joined along a new axis of the result. Throws as concatenate.
Array stack(std::span<const Array> arrays, int64_t axis = 0, Loc loc = Loc::current());
Array stack(std::initializer_list<Array> arrays, int64_t axis = 0, Loc loc = Loc::current());
/// Rows on top of each other: joined along axis 0, where vectors count as rows.
Array vstack(std::span<const Array> arrays, Loc loc = Loc::current());
Array vstack(std::initializer_list<Array> arrays, Loc loc = Loc::current());
/// Side by side: joined along axis 1, vectors along axis 0.
Array hstack(std::span<const Array> arrays, Loc loc = Loc::current());
Array hstack(std::initializer_list<Array> arrays, Loc loc = Loc::current());

/// `sections` equal parts along an axis. Throws ShapeError if its size is not a multiple.
std::vector<Array> split(const Array& x, int64_t sections, int64_t axis = 0,
                         Loc loc = Loc::current());
/// The parts before, between and after the given places along an axis; negative places count from
/// its end.
std::vector<Array> split(const Array& x, std::initializer_list<int64_t> places, int64_t axis = 0,
                         Loc loc = Loc::current());
std::vector<Array> split(const Array& x, const std::vector<int64_t>& places, int64_t axis = 0,
                         Loc loc = Loc::current());
/// As split into sections, the first parts one longer where the size is no multiple.
std::vector<Array> array_split(const Array& x, int64_t sections, int64_t axis = 0,
                               Loc loc = Loc::current());

/// `x` put next to itself `repeats` times along each axis, as NumPy's tile: missing axes on either
/// side count as 1.
Array tile(const Array& x, const Shape& repeats, Loc loc = Loc::current());
/// Each element `repeats` times in a row along an axis; without one, of x.ravel(). Throws
/// ValueError if negative.
Array repeat(const Array& x, int64_t repeats, const AxisArg& axis = none, Loc loc = Loc::current());
/// Element i of an axis repeats[i] times. Throws ShapeError unless there is one count for each.
Array repeat(const Array& x, const std::vector<int64_t>& repeats, const AxisArg& axis = none,
             Loc loc = Loc::current());

}  // namespace spruce
