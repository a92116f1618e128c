// SPDX-License-Identifier: Apache-2.0
// Shapes that need not be given.
#pragma once

#include <concepts>
#include <initializer_list>

#include "spruce/core/axis_arg.h"

namespace spruce {

/// A shape, or none: `.shape = {200}`, `.shape = x.shape()`. `.shape = {}` is none; the shape of a
/// number is Shape{}.
class ShapeArg {
 public:
  /// None.
  constexpr ShapeArg() = default;
  constexpr ShapeArg(None) {}
  /// The sizes. Throws ShapeError for more than kMaxRank of them.
  constexpr ShapeArg(std::initializer_list<ShapeEntry> sizes) : shape_(sizes), given_(true) {}
  constexpr ShapeArg(const Shape& shape) : shape_(shape), given_(true) {}
  template <std::convertible_to<Shape> T>
  constexpr ShapeArg(const T& sizes) : shape_(sizes), given_(true) {}

  /// False for none.
  constexpr bool has_value() const { return given_; }
  /// The shape; [] for none.
  constexpr const Shape& operator*() const { return shape_; }
  /// The shape, or `other` for none.
  constexpr const Shape& value_or(const Shape& other) const { return given_ ? shape_ : other; }

 private:
  Shape shape_;
  bool given_ = false;
};

}  // namespace spruce
