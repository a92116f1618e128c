// SPDX-License-Identifier: Apache-2.0
// Elements that move between channels and space, and axes that are cut up.
#pragma once

#include "spruce/core/array.h"
#include "spruce/core/axis_arg.h"
#include "spruce/core/op_scope.h"

namespace spruce::nn {

/// f[..., c r^2, h, w] -> f[..., c, h r, w r] with r = upscale_factor: channels become pixels (Shi
/// et al. 2016). Throws ShapeError for a rank below 3, a factor below 1, or channels that r^2 does
/// not divide.
inline constexpr struct PixelShuffleFunction {
  Array operator()(const Array& x, int64_t upscale_factor, Loc loc = Loc::current()) const;
} pixel_shuffle{};
/// The inverse: f[..., c, h r, w r] -> f[..., c r^2, h, w] with r = downscale_factor.
inline constexpr struct PixelUnshuffleFunction {
  Array operator()(const Array& x, int64_t downscale_factor, Loc loc = Loc::current()) const;
} pixel_unshuffle{};
/// f[n, c, ...] with the channels of `groups` groups dealt out in turn: channel i of group g comes
/// to i groups + g (Zhang et al. 2018). Throws ShapeError for a rank below 3 or groups that do not
/// divide c.
inline constexpr struct ChannelShuffleFunction {
  Array operator()(const Array& x, int64_t groups, Loc loc = Loc::current()) const;
} channel_shuffle{};
/// channel_shuffle under PyTorch's other name.
inline constexpr const auto& native_channel_shuffle = channel_shuffle;

/// Axis `dim` as several of these sizes, of which one may be -1: f[n, 12] -> f[n, 3, 4] for dim 1
/// and {3, 4}. Shares the memory of x. Throws ShapeError where the sizes do not multiply to that of
/// the axis.
inline constexpr struct UnflattenFunction {
  Array operator()(const Array& x, Axis dim, const Shape& sizes, Loc loc = Loc::current()) const;
} unflatten{};

/// pixel_shuffle as a layer without parameters.
struct PixelShuffle {
  int64_t upscale_factor = 2;  ///< by how much each side grows

  /// The result of pixel_shuffle.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("PixelShuffle", loc);
    return pixel_shuffle(x, upscale_factor);
  }
};
/// pixel_unshuffle as a layer without parameters.
struct PixelUnshuffle {
  int64_t downscale_factor = 2;  ///< by how much each side shrinks

  /// The result of pixel_unshuffle.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("PixelUnshuffle", loc);
    return pixel_unshuffle(x, downscale_factor);
  }
};
/// channel_shuffle as a layer without parameters.
struct ChannelShuffle {
  int64_t groups = 1;  ///< groups of channels

  /// The result of channel_shuffle.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("ChannelShuffle", loc);
    return channel_shuffle(x, groups);
  }
};
/// unflatten as a layer without parameters.
struct Unflatten {
  int64_t dim = 1;   ///< the axis that is cut up
  Shape sizes = {};  ///< into these; one may be -1

  /// The result of unflatten.
  Array operator()(const Array& x, Loc loc = Loc::current()) const {
    const OpScope at("Unflatten", loc);
    return unflatten(x, dim, sizes);
  }
};

}  // namespace spruce::nn
