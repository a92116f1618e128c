// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/augment.h"

#include <cmath>

#include "spruce/core/op_scope.h"
#include "spruce/core/ops/ops.h"
#include "spruce/data/grey.h"

namespace spruce::data {
namespace {

void check_image(const char* op, const Array& image) {
  if (image.rank() == 3) return;
  throw ShapeError(std::string(op) + ": the picture is " + to_string(image.aval()) +
                   "; it takes one picture, [height, width, channels], and vmap maps it over "
                   "batches");
}

void check_floating(const char* op, const Array& x) {
  if (is_floating(x.dtype())) return;
  throw DtypeError(std::string(op) + ": " + to_string(x.aval()) +
                   " is not floating; pixels_to_float() makes pixels so");
}

void check_unit(const char* op, const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw ValueError(std::string(op) + ": " + name + " is " + std::to_string(value) +
                   "; it has to be in 0 .. 1");
}

// A number of rank 0 in low .. high - 1.
Array place(const Key& key, int64_t high) { return random::randint(key, {}, 0, high); }

Array factor(const Key& key, double x, Dtype dtype) {
  return random::uniform(key, {}, {.low = 1 - x, .high = 1 + x, .dtype = dtype});
}

Array grey(const Array& image) {
  if (image.shape()[2] == 1) return image;
  const Array weights =
      array({internal::kGreyOf[0], internal::kGreyOf[1], internal::kGreyOf[2]}, image.dtype());
  return sum(image * weights, -1, {.keepdims = true});
}

}  // namespace

Array RandomFlipFunction::operator()(const Key& key, const Array& image, double p, Loc loc) const {
  const OpScope at("random_flip", loc);
  check_image("random_flip", image);
  check_unit("random_flip", "p", p);
  return where(random::bernoulli(key, p, {}), flip(image, 1), image);
}

Array RandomCropFunction::operator()(const Key& key, const Array& image,
                                     const RandomCropOptions& options, Loc loc) const {
  const OpScope at("random_crop", loc);
  check_image("random_crop", image);
  const Shape& shape = image.shape();
  if (options.height < 0 || options.width < 0 || options.padding < 0) {
    throw ValueError("random_crop: height " + std::to_string(options.height) + ", width " +
                     std::to_string(options.width) + ", padding " +
                     std::to_string(options.padding) + "; none may be negative");
  }
  const int64_t height = options.height > 0 ? options.height : shape[0],
                width = options.width > 0 ? options.width : shape[1], p = options.padding;
  const Array around = p > 0 ? pad(image, {{p, p}, {p, p}, {0, 0}}) : image;
  const int64_t rows = around.shape()[0] - height, columns = around.shape()[1] - width;
  if (rows < 0 || columns < 0) {
    throw ShapeError("random_crop: a part of " + std::to_string(height) + " x " +
                     std::to_string(width) + " is larger than the picture, " +
                     to_string(image.aval()) + " with " + std::to_string(p) + " pixels around it");
  }
  const auto keys = random::split<2>(key);
  return dynamic_slice(around, {place(keys[0], rows + 1), place(keys[1], columns + 1), 0},
                       {height, width, shape[2]});
}

Array ColorJitterFunction::operator()(const Key& key, const Array& image,
                                      const ColorJitterOptions& options, Loc loc) const {
  const OpScope at("color_jitter", loc);
  check_image("color_jitter", image);
  check_floating("color_jitter", image);
  check_unit("color_jitter", "brightness", options.brightness);
  check_unit("color_jitter", "contrast", options.contrast);
  check_unit("color_jitter", "saturation", options.saturation);
  const int64_t channels = image.shape()[2];
  if (channels != 1 && channels != 3) {
    throw ShapeError("color_jitter: the picture is " + to_string(image.aval()) +
                     "; it takes 1 or 3 channels");
  }
  const auto keys = random::split<3>(key);
  const Dtype dtype = image.dtype();
  const auto mixed = [](const Array& x, const Array& with, const Array& by) {
    return clip(with + by * (x - with), 0, 1);
  };
  Array x = image;
  if (options.brightness > 0) x = clip(factor(keys[0], options.brightness, dtype) * x, 0, 1);
  if (options.contrast > 0) x = mixed(x, mean(grey(x)), factor(keys[1], options.contrast, dtype));
  if (options.saturation > 0 && channels == 3)
    x = mixed(x, grey(x), factor(keys[2], options.saturation, dtype));
  return x;
}

Array NormalizeImageFunction::operator()(const Array& image, const Array& mean,
                                         const Array& deviation, Loc loc) const {
  const OpScope at("normalize_image", loc);
  return (image - mean) / deviation;
}

Array PixelsToFloatFunction::operator()(const Array& pixels, Loc loc) const {
  const OpScope at("pixels_to_float", loc);
  if (pixels.dtype() != uint8) {
    throw DtypeError("pixels_to_float: the pixels are " + to_string(pixels.aval()) +
                     "; it takes u8");
  }
  return astype(pixels, float32) / 255.0f;
}

Array CutoutFunction::operator()(const Key& key, const Array& image, int64_t side, Loc loc) const {
  const OpScope at("cutout", loc);
  check_image("cutout", image);
  if (side < 1) throw ValueError("cutout: the side is " + std::to_string(side) + " pixels");
  const int64_t height = image.shape()[0], width = image.shape()[1];
  if (image.size() == 0) return image;
  const auto keys = random::split<2>(key);
  const auto within = [&](const Key& k, int64_t n) {
    const Array first = place(k, n) - side / 2, at_pixel = arange(n, int32);
    return (at_pixel >= first) & (at_pixel < first + side);
  };
  const Array rows = within(keys[0], height).reshape({height, 1, 1}),
              columns = within(keys[1], width).reshape({1, width, 1});
  return where(rows & columns, zeros_like(image), image);
}

Mixed MixupFunction::operator()(const Key& key, const Array& inputs, const Array& targets,
                                double alpha, Loc loc) const {
  const OpScope at("mixup", loc);
  check_floating("mixup", inputs);
  if (!is_floating(targets.dtype())) {
    throw DtypeError("mixup: the targets are " + to_string(targets.aval()) +
                     "; labels cannot be mixed, give rows of probabilities: one_hot(labels, k)");
  }
  if (inputs.rank() == 0 || targets.rank() == 0 || inputs.shape()[0] != targets.shape()[0]) {
    throw ShapeError("mixup: the inputs are " + to_string(inputs.aval()) + " and the targets " +
                     to_string(targets.aval()) + "; their first axes count the examples");
  }
  if (!(alpha > 0) || !std::isfinite(alpha))
    throw ValueError("mixup: alpha is " + std::to_string(alpha) + "; it has to be positive");
  const auto keys = random::split<2>(key);
  const Array weight = random::beta(keys[0], alpha, alpha, {});
  const Array order = random::permutation(keys[1], inputs.shape()[0]);
  const auto mix = [&](const Array& x) {
    const Array w = astype(weight, x.dtype());
    return w * x + (1 - w) * take(x, order, 0);
  };
  return {mix(inputs), mix(targets)};
}

}  // namespace spruce::data
