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
inline constexpr struct ConcatenateFunction {
  Array operator()(std::span<const Array> arrays, Axis axis = 0, Loc loc = Loc::current()) const;
  Array operator()(std::initializer_list<Array> arrays, Axis axis = 0,
                   Loc loc = Loc::current()) const;
} concatenate{};
/// Arrays of one shape joined along a new axis of the result. Throws as concatenate.
inline constexpr struct StackFunction {
  Array operator()(std::span<const Array> arrays, Axis axis = 0, Loc loc = Loc::current()) const;
  Array operator()(std::initializer_list<Array> arrays, Axis axis = 0,
                   Loc loc = Loc::current()) const;
} stack{};
/// Rows on top of each other: joined along axis 0, where vectors count as rows.
inline constexpr struct VstackFunction {
  Array operator()(std::span<const Array> arrays, Loc loc = Loc::current()) const;
  Array operator()(std::initializer_list<Array> arrays, Loc loc = Loc::current()) const;
} vstack{};
/// Side by side: joined along axis 1, vectors along axis 0.
inline constexpr struct HstackFunction {
  Array operator()(std::span<const Array> arrays, Loc loc = Loc::current()) const;
  Array operator()(std::initializer_list<Array> arrays, Loc loc = Loc::current()) const;
} hstack{};

/// `sections` equal parts along an axis. Throws ShapeError if its size is not a multiple.
inline constexpr struct SplitFunction {
  std::vector<Array> operator()(const Array& x, int64_t sections, Axis axis = 0,
                                Loc loc = Loc::current()) const;
  /// The parts before, between and after the given places along an axis; negative places count from
  /// its end.
  std::vector<Array> operator()(const Array& x, std::initializer_list<int64_t> places,
                                Axis axis = 0, Loc loc = Loc::current()) const;
  std::vector<Array> operator()(const Array& x, const std::vector<int64_t>& places, Axis axis = 0,
                                Loc loc = Loc::current()) const;
} split{};
/// As split into sections, the first parts one longer where the size is no multiple.
inline constexpr struct ArraySplitFunction {
  std::vector<Array> operator()(const Array& x, int64_t sections, Axis axis = 0,
                                Loc loc = Loc::current()) const;
} array_split{};

/// `x` put next to itself `repeats` times along each axis, as NumPy's tile: missing axes on either
/// side count as 1.
inline constexpr struct TileFunction {
  Array operator()(const Array& x, const Shape& repeats, Loc loc = Loc::current()) const;
} tile{};
/// Each element `repeats` times in a row along an axis; without one, of x.ravel(). Throws
/// ValueError if negative.
inline constexpr struct RepeatFunction {
  Array operator()(const Array& x, int64_t repeats, const AxisArg& axis = none,
                   Loc loc = Loc::current()) const;
  /// Element i of an axis repeats[i] times. Throws ShapeError unless there is one count for each.
  Array operator()(const Array& x, const std::vector<int64_t>& repeats, const AxisArg& axis = none,
                   Loc loc = Loc::current()) const;
} repeat{};

}  // namespace spruce
