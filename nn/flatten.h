// SPDX-License-Identifier: Apache-2.0
// Flattening of axes.
#pragma once

#include <optional>

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"

namespace spruce::nn {

/// Options of flatten.
struct FlattenOptions {
  Axis start_axis = 1;                 ///< the first axis that is merged
  Axis end_axis = -1;                  ///< the last one
  std::optional<Axis> start_dim = {};  ///< PyTorch's name of start_axis, which it replaces
  std::optional<Axis> end_dim = {};    ///< PyTorch's name of end_axis, which it replaces
};
/// Axes start_axis..end_axis become one: f[n, c, h, w] -> f[n, c h w]. Rank 0 counts as shape [1].
/// Throws ShapeError for axes out of range or order.
struct Flatten {
  /// flatten(x), by default all axes but the first. Shares the memory of x.
  Array operator()(const Array& x, const FlattenOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Flatten.
inline constexpr Flatten flatten{};

}  // namespace spruce::nn
