// SPDX-License-Identifier: Apache-2.0
#include "spruce/data/augment.h"

#include <gmock/gmock.h>

#include <set>

#include "spruce/core/ops/ops.h"
#include "spruce/transforms/transforms.h"

namespace spruce::data {
namespace augment_test {

using testing::HasSubstr;

const Array& picture() {
  static const Array x = random::uniform(Key(9), {6, 4, 3});
  return x;
}

TEST(Augment, FlipIsOneOfTwo) {
  const Array x = picture(), mirrored = flip(x, 1);
  int flipped = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Array y = random_flip(Key(seed), x);
    const bool other = array_equal(y, mirrored);
    EXPECT_TRUE(other || array_equal(y, x));
    flipped += other;
  }
  EXPECT_NEAR(flipped, 100, 36);  // five standard deviations
  EXPECT_TRUE(array_equal(random_flip(Key(0), x, 1), mirrored));
  EXPECT_TRUE(array_equal(random_flip(Key(0), x, 0), x));
}

TEST(Augment, CropIsAPartOfThePaddedPicture) {
  const Array x = picture(), around = pad(x, {{1, 1}, {1, 1}, {0, 0}});
  std::set<std::pair<int, int>> places;
  for (int seed = 0; seed < 300; ++seed) {
    const Array y = random_crop(Key(seed), x, {.height = 5, .width = 4, .padding = 1});
    ASSERT_EQ(y.shape(), (Shape{5, 4, 3}));
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 3; ++c) {
        if (array_equal(y, around[{slice(r, r + 5), slice(c, c + 4)}])) places.emplace(r, c);
      }
    }
  }
  EXPECT_EQ(places.size(), 12u);  // each of the places is drawn
  EXPECT_TRUE(array_equal(random_crop(Key(0), x), x));
}

TEST(Augment, JitterOfOneFactor) {
  const Array x = picture();
  const auto keys = random::split<3>(Key(4));
  const auto drawn = [&](int i) {
    return random::uniform(keys[static_cast<size_t>(i)], {}, {.low = 0.6, .high = 1.4});
  };
  const Array grey = sum(x * array({0.299f, 0.587f, 0.114f}), -1, {.keepdims = true});
  EXPECT_TRUE(allclose(color_jitter(Key(4), x, {.brightness = 0.4}), clip(drawn(0) * x, 0, 1)));
  const Array level = mean(grey), contrast = drawn(1), saturation = drawn(2);
  EXPECT_TRUE(allclose(color_jitter(Key(4), x, {.contrast = 0.4}),
                       clip(contrast * x + (1 - contrast) * level, 0, 1)));
  EXPECT_TRUE(allclose(color_jitter(Key(4), x, {.saturation = 0.4}),
                       clip(saturation * x + (1 - saturation) * grey, 0, 1)));
  EXPECT_TRUE(array_equal(color_jitter(Key(4), x), x));
}

TEST(Augment, CutoutIsASquareOfZeros) {
  const Array x = ones({9, 9, 2});
  std::set<int> sums;
  for (int seed = 0; seed < 100; ++seed) {
    const Array y = cutout(Key(seed), x, 3);
    const Array hole = 1 - y[{ellipsis, 0}];
    EXPECT_TRUE(array_equal(y[{ellipsis, 0}], y[{ellipsis, 1}]));
    // Rows and columns of the hole are whole: it is the product of its sums.
    const Array rows = max(hole, 1), columns = max(hole, 0);
    EXPECT_TRUE(array_equal(hole, expand_dims(rows, 1) * columns));
    sums.insert(static_cast<int>(sum(hole).item<float>()));
  }
  EXPECT_EQ(sums, (std::set<int>{4, 6, 9}));  // in corners, at edges, inside
}

TEST(Augment, MixupMixesRowsWithOneWeight) {
  const Array x = random::normal(Key(1), {8, 5}), y = eye(8);
  const Mixed m = mixup(Key(2), x, y, 0.5);
  // y is the identity, so that the mixed targets are the matrix that mixes.
  EXPECT_TRUE(allclose(m.inputs, matmul(m.targets, x), {.rtol = 1e-5, .atol = 1e-6}));
  EXPECT_TRUE(allclose(sum(m.targets, -1), ones({8})));
  EXPECT_EQ(m.inputs.dtype(), float32);
}

TEST(Augment, NormalisesChannels) {
  const Array mean_of = array({0.5f, 0.25f, 0.0f}), deviation = array({2.0f, 0.5f, 1.0f});
  const Array y = normalize_image(picture(), mean_of, deviation);
  EXPECT_TRUE(allclose(y * deviation + mean_of, picture()));
  EXPECT_EQ(pixels_to_float(array(std::vector<uint8_t>{255})).item<float>(), 1.0f);
  EXPECT_THROW(pixels_to_float(ones({2})), DtypeError);
}

// What vmap over keys and pictures gives is what each gives by itself, under jit too.
TEST(Augment, UnderVmapAndJit) {
  const int n = 5;
  const Array images = random::uniform(Key(3), {n, 6, 6, 3});
  const Key keys = random::split(Key(8), n);
  const auto all = [](const Key& key, const Array& image) {
    const auto k = random::split<4>(key);
    Array x = random_flip(k[0], image);
    x = random_crop(k[1], x, {.padding = 2});
    x = color_jitter(k[2], x, {.brightness = 0.2, .contrast = 0.3, .saturation = 0.4});
    return cutout(k[3], x, 2);
  };
  const Array mapped = vmap(all)(keys, images), compiled = jit(vmap(all))(keys, images);
  for (int i = 0; i < n; ++i) {
    EXPECT_TRUE(allclose(mapped[i], all(keys[i], images[i]), {.rtol = 1e-5, .atol = 1e-6}));
  }
  EXPECT_TRUE(allclose(mapped, compiled, {.rtol = 1e-5, .atol = 1e-6}));
}

TEST(Augment, GradientsGoThrough) {
  const auto total = [](const Array& image) {
    const Array y = random_crop(Key(1), random_flip(Key(0), image, 1), {.height = 2, .width = 2});
    return sum(y * y);
  };
  const Array g = grad(total)(picture());
  const Array x = picture();
  // 2 x in four pixels, zero elsewhere.
  EXPECT_TRUE(all(equal(g, 0) | isclose(g, 2 * x)).item<bool>());
  EXPECT_EQ(sum(astype(not_equal(g, 0), int32)).item<int32_t>(), 12);
}

TEST(Augment, WhatIsWrongIsNamed) {
  const Array x = picture();
  const Key k(0);
  EXPECT_THROW(random_flip(k, ones({2, 6, 4, 3})), ShapeError);
  EXPECT_THROW(random_flip(k, x, 1.5), ValueError);
  EXPECT_THROW(random_crop(k, x, {.height = 7}), ShapeError);
  EXPECT_THROW(random_crop(k, x, {.padding = -1}), ValueError);
  EXPECT_THROW(color_jitter(k, x, {.contrast = 2}), ValueError);
  EXPECT_THROW(color_jitter(k, ones({2, 2, 4})), ShapeError);
  EXPECT_THROW(color_jitter(k, ones({2, 2, 3}, uint8)), DtypeError);
  EXPECT_THROW(cutout(k, x, 0), ValueError);
  EXPECT_THROW(mixup(k, x, ones({2})), ShapeError);
  EXPECT_THROW(mixup(k, x, ones({6}, int32)), DtypeError);
  EXPECT_THROW(mixup(k, x, x, 0), ValueError);
  try {
    random_crop(k, x, {.height = 7, .width = 2});
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.what(), HasSubstr("random_crop: a part of 7 x 2 is larger than the picture, "
                                    "f32[6,4,3] with 0 pixels around it"));
  }
}

}  // namespace augment_test
}  // namespace spruce::data
