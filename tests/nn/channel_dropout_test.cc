// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/channel_dropout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "spruce/spruce.h"

namespace spruce::nn {
namespace channel_dropout_test {

TEST(ChannelDropout, DropsWholeChannelsAndScales) {
  const Array x = ones({40, 50, 3});
  const Array y = dropout1d(x, {.p = 0.2f, .key = Key(5)});
  const Array sums = sum(y, 2);
  EXPECT_TRUE(bool(all((sums == 0) | (abs(sums - 3.75f) < 1e-5f))));
  EXPECT_NEAR(astype(count_nonzero(sums), float64).item<double>(), 1600, 5 * 18);
  EXPECT_EQ(dropout2d(ones({4, 2, 2}), {.key = Key(5)}).shape(), (Shape{4, 2, 2}));
  const Array volume = dropout3d(ones({6, 2, 2, 2}), {.key = Key(5)});
  EXPECT_TRUE(array_equal(min(volume, {1, 2, 3}), max(volume, {1, 2, 3})));
}

TEST(ChannelDropout, EdgesAndErrors) {
  const Array x = ones({2, 3, 4});
  EXPECT_TRUE(array_equal(dropout1d(x, {.p = 0}), x));
  EXPECT_TRUE(array_equal(dropout1d(x, {.p = 1, .key = Key(0)}), zeros({2, 3, 4})));
  EXPECT_TRUE(array_equal(dropout1d(x, {.training = false}), x));
  EXPECT_THROW(dropout1d(x), ValueError);
  EXPECT_THROW(dropout1d(x, {.p = 2, .key = Key(0)}), ValueError);
  EXPECT_THROW(dropout1d(ones({3}), {.key = Key(0)}), ShapeError);
  EXPECT_THROW(dropout3d(x, {.key = Key(0)}), ShapeError);
}

TEST(ChannelDropout, LayersDrawFromTheContextOnlyInTraining) {
  const Array x = ones({4, 16, 3});
  const Dropout1d layer{0.5f};
  Context off{.key = Key(1)}, on{.training = true, .key = Key(1)};
  EXPECT_TRUE(array_equal(layer(x), x));
  EXPECT_TRUE(array_equal(layer(x, off), x));
  EXPECT_EQ(off.keys_used, 0);
  EXPECT_TRUE(array_equal(layer(x, on), dropout1d(x, {.key = random::fold_in(Key(1), 0)})));
  EXPECT_TRUE(array_equal(AlphaDropout{}(x, on),
                          alpha_dropout(x, {.training = true, .key = random::fold_in(Key(1), 1)})));
  EXPECT_TRUE(
      array_equal(FeatureAlphaDropout{}(x, on),
                  feature_alpha_dropout(x, {.training = true, .key = random::fold_in(Key(1), 2)})));
  EXPECT_TRUE(array_equal(AlphaDropout{}(x), x));
  EXPECT_THROW(Dropout2d{2}(x), ValueError);
}

TEST(AlphaDropout, KeepsMeanAndVariance) {
  const Array x = random::normal(Key(0), {200, 500});
  for (const float p : {0.1f, 0.5f}) {
    const Array y = alpha_dropout(x, {.p = p, .training = true, .key = Key(1)});
    EXPECT_NEAR(mean(y).item<float>(), 0, 0.02);
    EXPECT_NEAR(var(y).item<float>(), 1, 0.03);
  }
  const Array channels =
      feature_alpha_dropout(ones({100, 100, 2}), {.p = 0.3f, .training = true, .key = Key(1)});
  EXPECT_TRUE(array_equal(channels[{slice(), slice(), 0}], channels[{slice(), slice(), 1}]));
  // As PyTorch: with a = ((alpha^2 p + 1) (1 - p))^(-1/2), a x + a alpha p and a alpha (p - 1).
  const double alpha = 1.7580993408473766, p = 0.3;
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  EXPECT_NEAR(max(channels).item<float>(), a + a * alpha * p, 1e-5);
  EXPECT_NEAR(min(channels).item<float>(), a * alpha * (p - 1), 1e-5);
}

TEST(AlphaDropout, EdgesAndErrors) {
  const Array x = ones({2, 3});
  EXPECT_TRUE(array_equal(alpha_dropout(x), x));
  EXPECT_TRUE(
      array_equal(alpha_dropout(x, {.p = 1, .training = true, .key = Key(0)}), zeros({2, 3})));
  EXPECT_THROW(alpha_dropout(x, {.training = true}), ValueError);
  EXPECT_THROW(alpha_dropout(x, {.p = -1}), ValueError);
  EXPECT_THROW(feature_alpha_dropout(ones({3})), ShapeError);
}

}  // namespace channel_dropout_test
}  // namespace spruce::nn
