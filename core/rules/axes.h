// SPDX-License-Identifier: Apache-2.0
// Axes among the parameters of primitives. They count from the front, whoever made the parameters.
#pragma once

#include <algorithm>
#include <string>

#include "spruce/core/primitive.h"

namespace spruce::rules {

/// begin, begin + 1, ... below end.
inline Axes axis_range(int64_t begin, int64_t end) {
  Axes out;
  for (int64_t i = begin; i < end; ++i) out.push_back(i);
  return out;
}
/// True if none is smaller than the one before it.
inline bool rising(const Axes& axes) { return std::is_sorted(axes.begin(), axes.end()); }

/// Throws ShapeError unless 0 <= axis < rank.
inline int settled_axis(const char* op, int64_t axis, int rank) {
  if (axis < 0 || axis >= rank) {
    throw ShapeError(std::string(op) + ": the parameters name axis " + std::to_string(axis) +
                     " of an array of rank " + std::to_string(rank));
  }
  return static_cast<int>(axis);
}

/// The same for each of them; each may be named once.
inline void settled_axes(const char* op, const Axes& axes, int rank) {
  (void)normalize_axes(op, axes, rank);
  for (const int64_t axis : axes) (void)settled_axis(op, axis, rank);
}

}  // namespace spruce::rules
