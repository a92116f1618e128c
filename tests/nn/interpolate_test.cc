// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/interpolate.h"

#include "spruce/nn/grid_sample.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace interpolate_test {

nn::InterpolateMode mode_of(const Options& o) {
  const std::string& name = o.text("mode");
  return name == "nearest"         ? nn::InterpolateMode::kNearest
         : name == "nearest-exact" ? nn::InterpolateMode::kNearestExact
         : name == "bicubic"       ? nn::InterpolateMode::kBicubic
         : name == "area"          ? nn::InterpolateMode::kArea
                                   : nn::InterpolateMode::kLinear;
}

TEST(Interpolate, AsPyTorch) {
  check("interpolate", 130, [](const Inputs& in, const Options& o) {
    nn::InterpolateOptions options{.mode = mode_of(o)};
    if (o.has("corners")) options.align_corners = o.flag("corners");
    if (o.has("size")) options.size = sizes_of(o, "size");
    if (o.has("scale")) options.scale_factor = o.number("scale");
    if (o.has("again")) options.recompute_scale_factor = o.flag("again");
    if (o.has("antialias")) options.antialias = true;
    return nn::interpolate(in[0], options);
  });
}

TEST(Interpolate, LayerIsTheFunction) {
  const Array x = torch_cases::wave({1, 2, 3, 4}, 0.7);
  EXPECT_TRUE(
      sp::array_equal(nn::Upsample{.scale_factor = 2}(x), sp::repeat(sp::repeat(x, 2, 2), 2, 3)));
  const nn::Upsample layer{.size = {6, 5}, .mode = nn::InterpolateMode::kBilinear};
  EXPECT_TRUE(sp::array_equal(
      layer(x), nn::interpolate(x, {.size = {6, 5}, .mode = nn::InterpolateMode::kLinear})));
  EXPECT_TRUE(sp::array_equal(nn::UpsamplingNearest2d{.scale_factor = 3}(x),
                              nn::Upsample{.scale_factor = 3}(x)));
  EXPECT_TRUE(sp::array_equal(
      nn::UpsamplingBilinear2d{.size = {6, 5}}(x),
      nn::interpolate(
          x, {.size = {6, 5}, .mode = nn::InterpolateMode::kBilinear, .align_corners = true})));
  EXPECT_EQ(nn::interpolate(x, {.scale_factor = {2, 1.5}}).shape(), (sp::Shape{1, 2, 6, 6}));
}

TEST(Interpolate, BadInput) {
  const Array x = sp::ones({1, 2, 3, 4});
  EXPECT_THROW(nn::interpolate(x, {}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = 2, .scale_factor = 2}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = {2, 2, 2}}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.size = 0}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.scale_factor = {2, 2, 2}}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.scale_factor = 0.1}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.scale_factor = -1}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x[0][0], {.size = 2}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(sp::astype(x, sp::int32), {.size = 2}), sp::DtypeError);
  EXPECT_THROW(nn::interpolate(x[0], {.size = 2, .mode = nn::InterpolateMode::kBicubic}),
               sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = 2, .align_corners = true}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = 2, .antialias = true}), sp::ValueError);
}

TEST(GridSample, AsPyTorch) {
  check("grid_sample", 30, [](const Inputs& in, const Options& o) {
    const std::string &mode = o.text("mode"), &pad = o.text("pad");
    return nn::grid_sample(
        in[0], 1.4 * in[1],
        {.mode = mode == "nearest"   ? nn::GridSampleMode::kNearest
                 : mode == "bicubic" ? nn::GridSampleMode::kBicubic
                                     : nn::GridSampleMode::kBilinear,
         .padding_mode = pad == "border"       ? nn::GridSamplePadding::kBorder
                         : pad == "reflection" ? nn::GridSamplePadding::kReflection
                                               : nn::GridSamplePadding::kZeros,
         .align_corners = o.flag("corners")});
  });
  check("affine_grid", 4, [](const Inputs& in, const Options& o) {
    return nn::affine_grid(in[0], list_of(o, "size"), {.align_corners = o.flag("corners")});
  });
}

TEST(GridSample, OfTheIdentityIsTheImage) {
  const Array x = torch_cases::wave({1, 2, 3, 4}, 0.7);
  const Array theta = sp::array({1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, {1, 2, 3}, sp::float64);
  for (const bool corners : {false, true}) {
    const Array grid = nn::affine_grid(theta, x.shape(), {.align_corners = corners});
    EXPECT_TRUE(sp::allclose(nn::grid_sample(x, grid, {.align_corners = corners}), x));
  }
}

TEST(GridSample, OfNoImages) {
  EXPECT_EQ(nn::grid_sample(sp::ones({0, 2, 3, 4}), sp::zeros({0, 5, 6, 2})).shape(),
            (sp::Shape{0, 2, 5, 6}));
}

TEST(GridSample, BadInput) {
  const Array x = sp::ones({1, 2, 3, 4}), grid = sp::zeros({1, 5, 5, 2});
  EXPECT_THROW(nn::grid_sample(x, grid[0]), sp::ShapeError);
  EXPECT_THROW(nn::grid_sample(x, sp::zeros({2, 5, 5, 2})), sp::ShapeError);
  EXPECT_THROW(nn::grid_sample(x, sp::zeros({1, 5, 5, 3})), sp::ShapeError);
  EXPECT_THROW(nn::grid_sample(sp::ones({1, 2, 0, 4}), grid), sp::ShapeError);
  EXPECT_THROW(nn::grid_sample(x, sp::astype(grid, sp::float64)), sp::DtypeError);
  EXPECT_THROW(nn::grid_sample(sp::ones({1, 1, 2, 2, 2}), sp::zeros({1, 2, 2, 2, 3}),
                               {.mode = nn::GridSampleMode::kBicubic}),
               sp::ValueError);
  EXPECT_THROW(nn::affine_grid(sp::ones({1, 2, 2}), {1, 1, 3, 3}), sp::ShapeError);
}

}  // namespace interpolate_test
}  // namespace functional_cases
