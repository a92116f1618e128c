// SPDX-License-Identifier: Apache-2.0
// The elements of several arrays side by side: axes with the step of each array along them, as few
// as can be, and the text that turns a number of an element into places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spruce/cuda/codegen/kernel_builder.h"

namespace spruce::cuda {

/// Axes over which `count` arrays are walked together.
struct Walk {
  /// One axis.
  struct Axis {
    int64_t size;                ///< not 1
    std::vector<int64_t> steps;  ///< in elements, one for each array
  };
  std::vector<Axis> axes;  ///< the last one is the innermost

  /// Adds an axis inside of those before: merged with its neighbour where all arrays allow it, left
  /// out where its size is 1.
  void add(int64_t size, std::vector<int64_t> steps);
  /// The number of elements.
  int64_t size() const;

  /// The statements that give each array's place: `names[k]`, an sp::i64 that is declared before,
  /// grows by its offset at element number `index` (an expression, which is 0..size() - 1). Sizes
  /// and steps become parameters of the kernel with names that begin with `prefix`.
  std::string places(KernelBuilder& kernel, std::string_view prefix, std::string_view index,
                     const std::vector<std::string>& names) const;
};

/// The walk over `shape` of arrays with these steps along its axes.
Walk walk_of(const Shape& shape, const std::vector<Shape>& steps);

/// The steps of an array of shape `from` along the axes of `to`, to which it broadcasts.
Shape broadcast_steps(const Shape& from, const Shape& to);
/// The same of an array with these strides.
Shape broadcast_steps(const Shape& from, const Shape& strides, const Shape& to);

/// From element to element of input i along each axis, in elements.
Shape input_strides(const PrepareArgs& args, size_t i);
/// The same of output k.
Shape output_strides(const PrepareArgs& args, size_t k);

}  // namespace spruce::cuda
