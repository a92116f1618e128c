// SPDX-License-Identifier: Apache-2.0
// What convolutions and their transposes share: channels, first parameters and the bias.
#pragma once

#include <optional>

#include "spruce/nn/conv.h"

namespace spruce::nn::internal {

/// Throws ShapeError naming `op` unless `bias`, where there is one, is f[out].
void check_bias(const char* op, const Array& weight, const Array& bias, int64_t out);
/// y f[n, out, sizes over `axes` axes] + bias f[out], where there is one; without the first axis
/// where `single`.
Array with_bias(const Array& y, const Array& bias, int axes, bool single);
/// Throws ShapeError naming `op` unless both numbers of channels are positive and divisible by
/// `groups`.
void check_channels(const char* op, int64_t in, int64_t out, int64_t groups);

/// A weight f[first, second, kernel...] and, if asked for, a bias f[out].
struct Weights {
  Array weight;
  std::optional<Array> bias;
};
/// Both by `init`, or else uniform by the fan-in second * kernel.
Weights init_weights(const Key& key, int64_t first, int64_t second, const Shape& kernel,
                     int64_t out, bool bias, Dtype dtype, const init::LayerInit& init);

}  // namespace spruce::nn::internal
