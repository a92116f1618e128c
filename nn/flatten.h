// SPDX-License-Identifier: Apache-2.0
// Flattening of axes.
#pragma once

#include "spruce/core/array.h"

namespace spruce::nn {

/// Options of flatten.
struct FlattenOptions {
  int64_t start_dim = 1;  ///< the first axis that is merged
  int64_t end_dim = -1;   ///< the last one
};
/// Axes start_dim..end_dim become one: f[n, c, h, w] -> f[n, c h w]. Rank 0 counts as shape [1].
/// Throws ShapeError for axes out of range or order.
struct Flatten {
  /// flatten(x), by default all axes but the first. Shares the memory of x.
  Array operator()(const Array& x, const FlattenOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// The function of type Flatten.
inline constexpr Flatten flatten{};

}  // namespace spruce::nn
