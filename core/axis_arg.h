// SPDX-License-Identifier: Apache-2.0
// Arguments that say "none", and arguments that name axes.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "spruce/core/integer_arg.h"
#include "spruce/core/shape.h"

namespace spruce {

/// The value that says "not given": no mapped axis, all axes, an open end of a slice.
struct None {
  friend constexpr bool operator==(None, None) { return true; }
};
/// The value of that type.
inline constexpr None none{};

/// One axis; negative ones count from the end. An unsigned number above all int64, such as v.size()
/// - 1 of an empty v, is an axis that no array has, and not -1.
class Axis {
 public:
  /// That axis. Whether it exists is checked where it is used.
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Axis(T axis) : axis_(internal::axis_of(axis)) {}
  /// The axis as it was given.
  constexpr operator int64_t() const { return axis_; }

 private:
  int64_t axis_;
};

/// One axis, several, or none; where an operation reduces, none means all axes. Negative axes count
/// from the end.
class AxisArg {
 public:
  /// No axis is named: all of them where an operation reduces.
  constexpr AxisArg(None) : all_(true) {}
  /// One axis.
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr AxisArg(T axis) : AxisArg(Axis(axis)) {}
  constexpr AxisArg(Axis axis) : axes_{int64_t{axis}} {}
  /// Several axes. The lists throw ShapeError for more than kMaxRank entries; whether axes exist is
  /// checked by resolve().
  constexpr AxisArg(std::initializer_list<ShapeEntry> axes) : axes_(axes) {}
  template <std::same_as<std::initializer_list<int64_t>> List>
  constexpr AxisArg(List axes) : axes_(axes) {}
  constexpr AxisArg(const Axes& axes) : axes_(axes) {}
  AxisArg(const std::vector<int64_t>& axes) : axes_(axes) {}

  /// True if no axes were named.
  constexpr bool all() const { return all_; }
  /// How many axes were named.
  constexpr int count() const { return axes_.rank(); }
  /// The axes as they were named.
  constexpr const Axes& named() const { return axes_; }
  /// The axes in 0..rank-1, in the order given; all of them for none. Throws ShapeError naming
  /// `op`.
  Axes resolve(const char* op, int rank) const;

 private:
  Axes axes_;
  bool all_ = false;
};

}  // namespace spruce
