// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier whose slope is learned.
#pragma once

#include <string_view>

#include "spruce/nn/factory.h"

namespace spruce::nn {

/// x where x > 0, weight * x elsewhere (He et al. 2015).
///
/// Shapes:  x f[n, c, ...] with weight f[c] or f[1]; of rank 1 or 0 with f[1]
/// Throws:  ShapeError where they do not fit.
inline constexpr struct PreluFunction {
  Array operator()(const Array& x, const Array& weight, Loc loc = Loc::current()) const;
} prelu{};

/// Options of PReLU.
struct PReluOptions {
  double init = 0.25;        ///< the slope at first
  Dtype dtype = float32;     ///< of the weight
  Device* device = nullptr;  ///< where they are made; null: the default device
};

/// prelu as a layer.
///
/// Parameters: weight f32[num_parameters].
struct PReLU {
  /// What is printed: see describe().
  static constexpr std::string_view kExtraRepr = "num_parameters=weight.0";

  Array weight;  ///< f32[1], or one slope for each channel

  /// Slopes of options.init: one for all, or one for each of `num_parameters` channels.
  static PReLU init(int64_t num_parameters = 1, const PReluOptions& options = {},
                    Loc loc = Loc::current());
  /// As prelu().
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
