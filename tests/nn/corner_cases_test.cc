// SPDX-License-Identifier: Apache-2.0
// Options and values at the ends of their ranges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spruce/core/ops/ops.h"
#include "spruce/nn/nn.h"
#include "spruce/transforms/transforms.h"

namespace spruce {
namespace corner_cases_test {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max(), kFar = int64_t{1} << 62;

TEST(CornerCases, WindowsBeyondI64AreShapeErrors) {
  const Array x = ones({1, 4, 8}), w = ones({4, 4, 3});
  EXPECT_THROW(nn::max_pool1d(x, 2, {.padding = kFar}), ShapeError);
  EXPECT_THROW(nn::max_pool1d(x, 3, {.stride = kLargest, .ceil_mode = true}), ShapeError);
  EXPECT_THROW(nn::max_pool1d(x, 3, {.dilation = kLargest}), ShapeError);
  EXPECT_THROW(nn::conv1d(x, w, {}, {.padding = kLargest}), ShapeError);
  EXPECT_THROW(nn::conv1d(x, w, {}, {.padding = "same", .dilation = kFar}), ShapeError);
  EXPECT_THROW(nn::conv1d(x, w, {}, {.groups = kLargest}), ShapeError);
  EXPECT_THROW(nn::conv_transpose1d(x, w, {}, {.stride = kLargest}), ShapeError);
  EXPECT_THROW(nn::conv_transpose1d(x, w, {}, {.dilation = kLargest}), ShapeError);
  EXPECT_THROW(nn::lp_pool1d(x, 2.0, kLargest), ShapeError);
  const Array image = ones({1, 4, 8, 8}), places = zeros({1, 4, 8, 8}, int64);
  EXPECT_THROW(nn::unfold(image, kFar), ShapeError);
  EXPECT_THROW(nn::fold(image, int64_t{1} << 32, int64_t{1} << 32), ShapeError);
  EXPECT_THROW(nn::max_unpool2d(image, places, kFar), ShapeError);
  EXPECT_THROW(nn::max_unpool2d(image, places, 2, {.output_size = int64_t{1} << 31}), ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.size = int64_t{1} << 40}), ShapeError);
}

TEST(CornerCases, FactorsThatWrapAroundDoNotFit) {
  const Array x = ones({1, 4, 8, 8});
  EXPECT_THROW(nn::pixel_shuffle(x, int64_t{1} << 32), ShapeError);
  EXPECT_THROW(nn::pixel_shuffle(x, kLargest), ShapeError);
  EXPECT_THROW(nn::unflatten(x, 1, {int64_t{1} << 32, int64_t{1} << 32}), ShapeError);
  EXPECT_THROW(nn::unflatten(x, 1, {-2, -2}), ShapeError);
}

TEST(CornerCases, ClassesOfCtcLossAreChecked) {
  const Array x = nn::log_softmax(ones({4, 1, 3}));
  const auto loss = [&](const Array& targets) {
    return nn::ctc_loss(x, targets, array({4}), array({1}));
  };
  EXPECT_THROW(loss(array({{3, 0}})), IndexError);
  EXPECT_THROW(loss(array({{-1, 0}})), IndexError);
  EXPECT_TRUE(std::isnan(jit(loss)(array({{3, 0}})).item<float>()));
  // What is behind the length of a target does not count.
  EXPECT_EQ(loss(array({{2, -1}})).item<float>(), loss(array({{2, 1}})).item<float>());
  EXPECT_EQ(jit(loss)(array({{2, 9}})).item<float>(), jit(loss)(array({{2, 1}})).item<float>());
}

TEST(CornerCases, UnpoolingLeavesOutNegativePlaces) {
  const auto unpool = [](const Array& x, const Array& at) { return nn::max_unpool1d(x, at, 2); };
  const Array x = array({{{1.0f, 2.0f}}}), at = array({{{-1, 1}}});
  EXPECT_THROW(unpool(x, at), IndexError);
  EXPECT_EQ(jit(unpool)(x, at).to_vector<float>(), (std::vector<float>{0, 2, 0, 0}));
}

TEST(CornerCases, ThresholdKeepsNan) {
  EXPECT_TRUE(std::isnan(nn::threshold(array(std::nanf("")), 0, 5).item<float>()));
  EXPECT_EQ(nn::threshold(array(0.0f), 0, 5).item<float>(), 5);
}

TEST(CornerCases, RreluHasItsSlopeAtZero) {
  const auto f = [](const Array& x) { return nn::rrelu(x, {.lower = 0.125, .upper = 0.375}); };
  EXPECT_EQ(grad(f)(array(0.0f)).item<float>(), 0.25f);
}

TEST(CornerCases, TheLastOffsetOfABagIsTheNumberOfIndices) {
  const Array table = ones({4, 2}), indices = zeros({5}, int32);
  const auto bags = [&](const Array& offsets) -> Array {
    return nn::embedding_bag(indices, table, offsets, {},
                             {.mode = nn::BagMode::kSum, .include_last_offset = true});
  };
  EXPECT_EQ(bags(array({0, 2, 5})).to_vector<float>(), (std::vector<float>{2, 2, 3, 3}));
  EXPECT_THROW(bags(array({0, 2, 3})), ValueError);
}

TEST(CornerCases, OffsetsOfABagMayBeNarrow) {
  const Array offsets = array(std::vector<uint8_t>{0, 100, 200});
  const Array y = nn::embedding_bag(zeros({300}, int32), ones({4, 1}), offsets, {},
                                    {.mode = nn::BagMode::kSum});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{100, 100, 100}));
}

TEST(CornerCases, IntegersAreAveragedWithoutWrapping) {
  const Array x = reshape(array(std::vector<int8_t>{100, 100, 100}), {1, 1, 3});
  const Array y = nn::adaptive_avg_pool1d(x, 2);
  for (const float v : astype(y, float32).to_vector<float>()) EXPECT_EQ(v, 100);
}

// The derivative of PyTorch: a coordinate at a border counts as outside.
TEST(CornerCases, GridsHaveNoGradientAtBorders) {
  const Array image = reshape(array({1.0f, 2.0f, 4.0f}), {1, 1, 1, 3});
  for (const auto padding : {nn::GridSamplePadding::kBorder, nn::GridSamplePadding::kReflection}) {
    const auto f = [&](const Array& x) {
      const Array grid = reshape(stack({x, zeros_like(x)}, -1), {1, 1, 3, 2});
      return sum(nn::grid_sample(image, grid, {.padding_mode = padding, .align_corners = true}));
    };
    const std::vector<float> g = grad(f)(array({-1.0f, 0.5f, 1.0f})).to_vector<float>();
    EXPECT_EQ(g[0], 0);
    EXPECT_EQ(g[1], 2);
    EXPECT_EQ(g[2], 0);
  }
}

}  // namespace corner_cases_test
}  // namespace spruce
