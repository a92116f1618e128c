// SPDX-License-Identifier: Apache-2.0
// Dropout of whole channels, and dropout that keeps mean and variance.
#pragma once

#include "spruce/core/op_scope.h"
#include "spruce/nn/axes_name.h"
#include "spruce/nn/dropout.h"

namespace spruce::nn {

/// Sets whole channels to zero with probability p and scales the others by 1 / (1 - p) (Tompson et
/// al. 2015).
template <int kAxes>
struct ChannelDropoutFunction {
  /// f[n, c, d...] or one example f[c, d...] with kAxes axes d. Throws ShapeError for other ranks;
  /// ValueError for p outside of 0..1, or without a key in training.
  Array operator()(const Array& x, const DropoutOptions& options = {},
                   Loc loc = Loc::current()) const;
};
/// Channels f[d] of f[n, c, d] or f[c, d].
inline constexpr ChannelDropoutFunction<1> dropout1d{};
/// Channels f[h, w].
inline constexpr ChannelDropoutFunction<2> dropout2d{};
/// Channels f[d, h, w].
inline constexpr ChannelDropoutFunction<3> dropout3d{};

extern template struct ChannelDropoutFunction<1>;
extern template struct ChannelDropoutFunction<2>;
extern template struct ChannelDropoutFunction<3>;

/// Options of alpha_dropout and feature_alpha_dropout.
struct AlphaDropoutOptions {
  float p = 0.5f;         ///< probability that an element is dropped
  bool training = false;  ///< false: x as it is
  Key key = {};           ///< needed in training, unless p is 0
};
/// Sets elements to the limit of selu far below 0 with probability p, then scales and moves all so
/// that mean 0 and variance 1 stay (Klambauer et al. 2017). Zeros for p = 1. Throws ValueError for
/// p outside of 0..1, or without a key in training.
inline constexpr struct AlphaDropoutFunction {
  Array operator()(const Array& x, const AlphaDropoutOptions& options = {},
                   Loc loc = Loc::current()) const;
} alpha_dropout{};
/// The same of whole channels of f[n, c, ...]. Throws ShapeError for a rank below 2 too.
inline constexpr struct FeatureAlphaDropoutFunction {
  Array operator()(const Array& x, const AlphaDropoutOptions& options = {},
                   Loc loc = Loc::current()) const;
} feature_alpha_dropout{};

/// Channel dropout as a layer: draws a key from the context in training; x as it is otherwise.
template <int kAxes>
struct ChannelDropout {
  /// What it is printed as.
  static constexpr const char* kClassName =
      internal::axes_name<kAxes>("Dropout1d", "Dropout2d", "Dropout3d");

  float p = 0.5f;  ///< probability that a channel becomes zero

  /// Evaluation mode: x.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at(kClassName, loc);
    return ChannelDropoutFunction<kAxes>{}(x, {.p = p, .training = false});
  }
  /// In training, with a key from the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const {
    const OpScope at(kClassName, loc);
    if (!ctx.training || p == 0) return (*this)(x, loc);
    return ChannelDropoutFunction<kAxes>{}(
        x, {.p = p, .training = true, .key = ctx.next_key(kClassName, *this)});
  }
};
/// Channels f[d].
using Dropout1d = ChannelDropout<1>;
/// Channels f[h, w].
using Dropout2d = ChannelDropout<2>;
/// Channels f[d, h, w].
using Dropout3d = ChannelDropout<3>;

/// alpha_dropout as a layer.
struct AlphaDropout {
  float p = 0.5f;  ///< probability that an element is dropped

  /// Evaluation mode: x.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training, with a key from the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};
/// feature_alpha_dropout as a layer.
struct FeatureAlphaDropout {
  float p = 0.5f;  ///< probability that a channel is dropped

  /// Evaluation mode: x.
  Array operator()(const Array& x, Loc loc = Loc::current()) const;
  /// In training, with a key from the context.
  Array operator()(const Array& x, Context& ctx, Loc loc = Loc::current()) const;
};

}  // namespace spruce::nn
