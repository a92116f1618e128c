// SPDX-License-Identifier: Apache-2.0
// Pictures changed at random, and batches mixed. Each function takes one picture, f[height, width,
// channels], and a key; vmap makes it one of batches, with a key for each picture:
// vmap(random_flip)(random::split(key, n), images).
#pragma once

#include "spruce/core/random/random.h"

namespace spruce::data {

/// The picture mirrored left to right with probability `p`; any dtype. Throws ShapeError unless
/// rank is 3. Grad: g, mirrored too.
inline constexpr struct RandomFlipFunction {
  Array operator()(const Key& key, const Array& image, double p = 0.5,
                   Loc loc = Loc::current()) const;
} random_flip{};

/// Options of random_crop.
struct RandomCropOptions {
  int64_t height = 0;   ///< of the result; 0: that of the picture
  int64_t width = 0;    ///< of the result; 0: that of the picture
  int64_t padding = 0;  ///< rows and columns of zeros that are put around the picture first
};
/// A part of the picture at a place that is drawn: any[height, width, channels]. With padding = 4
/// it moves the picture by up to 4 pixels. Throws ShapeError where the part is larger than the
/// picture with its padding, ValueError for negative sizes. Grad: g there, zeros elsewhere.
inline constexpr struct RandomCropFunction {
  Array operator()(const Key& key, const Array& image, const RandomCropOptions& options = {},
                   Loc loc = Loc::current()) const;
} random_crop{};

/// Options of color_jitter: each factor is drawn from 1 - x .. 1 + x.
struct ColorJitterOptions {
  double brightness = 0;  ///< multiplies every value
  double contrast = 0;    ///< multiplies the distance to the mean grey of the picture
  double saturation =
      0;  ///< multiplies the distance to the grey of each pixel; of 3 channels alone
};
/// Brightness, contrast and saturation changed, in this order; values are cut off at 0 and 1, as in
/// torchvision. Floating pictures of 1 or 3 channels. Throws DtypeError, ShapeError, ValueError for
/// an option outside of 0 .. 1. Gradient: of the formula, zero where values are cut off.
inline constexpr struct ColorJitterFunction {
  Array operator()(const Key& key, const Array& image, const ColorJitterOptions& options = {},
                   Loc loc = Loc::current()) const;
} color_jitter{};

/// (image - mean) / deviation, with one number for each channel (or one for all): pictures of any
/// rank whose last axis is that of channels. Throws as subtract and divide.
inline constexpr struct NormalizeImageFunction {
  Array operator()(const Array& image, const Array& mean, const Array& deviation,
                   Loc loc = Loc::current()) const;
} normalize_image{};

/// u8 pixels as f32 in 0 .. 1. Throws DtypeError for others.
inline constexpr struct PixelsToFloatFunction {
  Array operator()(const Array& pixels, Loc loc = Loc::current()) const;
} pixels_to_float{};

/// A square of zeros of that side (cut off at the border) around a pixel that is drawn (DeVries and
/// Taylor 2017, https://arxiv.org/abs/1708.04552). Throws ValueError for a side below 1. Grad: g,
/// zero in the square.
inline constexpr struct CutoutFunction {
  Array operator()(const Key& key, const Array& image, int64_t side,
                   Loc loc = Loc::current()) const;
} cutout{};

/// What mixup gives.
struct Mixed {
  Array inputs;   ///< f[n, ...]
  Array targets;  ///< f[n, ...]
};
/// A batch with its own shuffled copy mixed in: weight * x[i] + (1 - weight) * x[p(i)], and the
/// same for the targets, which are rows of probabilities (one_hot(labels, k)); the weight, one for
/// the batch, is drawn from Beta(alpha, alpha) (Zhang et al. 2018,
/// https://arxiv.org/abs/1710.09412). Throws ShapeError where the first axes differ, DtypeError
/// unless both are floating, ValueError unless alpha > 0.
inline constexpr struct MixupFunction {
  Mixed operator()(const Key& key, const Array& inputs, const Array& targets, double alpha = 0.2,
                   Loc loc = Loc::current()) const;
} mixup{};

}  // namespace spruce::data
