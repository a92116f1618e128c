// SPDX-License-Identifier: Apache-2.0
// Elements reversed, rotated and surrounded by others. All keep the dtype; gradients go back to
// where the elements came from.
#pragma once

#include <concepts>
#include <initializer_list>
#include <utility>
#include <vector>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce {

/// The elements in reverse order along the axes, by default all.
inline constexpr struct FlipFunction {
  Array operator()(const Array& x, const AxisArg& axes = none, Loc loc = Loc::current()) const;
} flip{};
/// Element i of the axes stands at i + shift, what leaves at one end comes in at the other; without
/// axes, of x.ravel().
inline constexpr struct RollFunction {
  Array operator()(const Array& x, int64_t shift, const AxisArg& axes = none,
                   Loc loc = Loc::current()) const;
  /// One shift for each axis, or one of either for all of the other; those of an axis that is named
  /// several times add up. Throws ShapeError for other numbers.
  Array operator()(const Array& x, const Shape& shifts, const AxisArg& axes,
                   Loc loc = Loc::current()) const;
} roll{};
/// A quarter turn, `turns` times, in the plane of two axes, from the first towards the second.
inline constexpr struct Rot90Function {
  Array operator()(const Array& x, int64_t turns = 1, const AxisArg& plane = {0, 1},
                   Loc loc = Loc::current()) const;
} rot90{};

/// What pad() puts around an array.
enum class PadMode {
  kConstant,   ///< PadOptions::value
  kEdge,       ///< the last element: 1 1 1 2 3 3 3
  kReflect,    ///< a mirror on the last element: 3 2 1 2 3 2 1
  kSymmetric,  ///< a mirror behind the last element: 2 1 1 2 3 3 2
  kWrap,       ///< the other end: 2 3 1 2 3 1 2
};

/// How many elements are put before and after each axis: the same everywhere, or a pair for each
/// axis.
class PadWidths {
 public:
  /// The same number before and after every axis.
  template <std::integral T>
  PadWidths(T both) : all_{static_cast<int64_t>(both), static_cast<int64_t>(both)} {}
  /// These numbers at every axis.
  PadWidths(int64_t before, int64_t after) : all_{before, after} {}
  /// A pair {before, after} for each axis.
  PadWidths(std::initializer_list<std::pair<int64_t, int64_t>> axes) : axes_(axes), each_(true) {}
  PadWidths(std::vector<std::pair<int64_t, int64_t>> axes) : axes_(std::move(axes)), each_(true) {}

  /// One pair for each axis of an array of that rank. Throws ShapeError for another number of
  /// pairs, ValueError for negative widths.
  std::vector<std::pair<int64_t, int64_t>> resolve(const char* op, int rank) const;

 private:
  std::pair<int64_t, int64_t> all_{0, 0};
  std::vector<std::pair<int64_t, int64_t>> axes_;
  bool each_ = false;
};

/// Options of pad.
struct PadOptions {
  PadMode mode = PadMode::kConstant;  ///< what is put around
  Array value = 0;                    ///< of rank 0, for kConstant; converted to the dtype of x
};
/// `x` with elements put around it: pad(x, 1), pad(x, {{0, 0}, {2, 1}}, {.mode =
/// PadMode::kReflect}). Throws ShapeError where an axis without elements would have to be repeated.
inline constexpr struct PadFunction {
  Array operator()(const Array& x, const PadWidths& widths, const PadOptions& options = {},
                   Loc loc = Loc::current()) const;
} pad{};

}  // namespace spruce
