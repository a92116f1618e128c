// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/interpolate.h"

#include <cmath>
#include <limits>

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

// An element reaches those alone that it has a weight in, and none at all may be there.
TEST(Interpolate, WindowsAreApart) {
  const auto twice = [](const Array& x) {
    return nn::interpolate(x, {.scale_factor = 2, .mode = nn::InterpolateMode::kBilinear});
  };
  const auto not_finite = [](const Array& y) { return sp::sum(~sp::isfinite(y)).item<int32_t>(); };
  const Array x = sp::ones({2, 3, 20, 24});
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(not_finite(sp::jit(twice)(x.at(1, 2, 7, 9).set(value))), 16);
    EXPECT_EQ(not_finite(twice(x.at(1, 2, 0, 23).set(value))), 9);
    const auto pulled = std::get<1>(sp::vjp(twice, x));
    const Array g = sp::ones({2, 3, 40, 48}).at(0, 0, 10, 11).set(value);
    EXPECT_EQ(not_finite(pulled(g)), 4);
  }
  EXPECT_EQ(twice(sp::zeros({0, 3, 2, 2})).shape(), (sp::Shape{0, 3, 4, 4}));
}

// In whole steps and in others, as the matrix of each axis says.
TEST(Interpolate, IsAProductWithAMatrixForEachAxis) {
  const Array x = sp::random::normal(sp::Key(0), {2, 3, 12, 18});
  for (const nn::InterpolateMode mode :
       {nn::InterpolateMode::kLinear, nn::InterpolateMode::kBicubic}) {
    for (const double scale : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0}) {
      const auto f = [&](const Array& x) {
        return nn::interpolate(x, {.scale_factor = scale, .mode = mode});
      };
      // Columns of the matrix: what becomes of one row or column of ones.
      const auto matrix = [&](int64_t n) {
        return f(sp::broadcast_to(sp::reshape(sp::eye(n), {1, n, n, 1}),
                                  {1, n, n, 2}))[{0, sp::slice(), sp::slice(), 0}];
      };
      const Array rows = matrix(12), columns = matrix(18);  // f32[in, out]
      const auto product = [&](const Array& x) {
        return sp::matmul(sp::swapaxes(sp::matmul(sp::swapaxes(x, -1, -2), rows), -1, -2), columns);
      };
      const auto total = [](const auto& f) {
        return sp::grad([f](const Array& x) { return sp::sum(sp::square(f(x))); });
      };
      const auto near = [](const Array& a, const Array& b) {
        return sp::allclose(a, b, {.rtol = 1e-4, .atol = 1e-4});
      };
      EXPECT_TRUE(near(sp::jit(f)(x), product(x))) << scale;
      EXPECT_TRUE(near(sp::jit(sp::vmap(f))(sp::expand_dims(x, 0))[0], product(x))) << scale;
      EXPECT_TRUE(near(sp::jit(total(f))(x), total(product)(x))) << scale;
    }
  }
}

TEST(Interpolate, BadInput) {
  const Array x = sp::ones({1, 2, 3, 4});
  EXPECT_THROW(nn::interpolate(x, {}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = 2, .scale_factor = 2}), sp::ValueError);
  EXPECT_THROW(nn::interpolate(x, {.size = {2, 2, 2}}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.size = 0}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.scale_factor = {2, 2, 2}}), sp::ShapeError);
  EXPECT_THROW(nn::interpolate(x, {.scale_factor = 0.1}), sp::ShapeError);
  expect_error<sp::ShapeError>([&] { nn::interpolate(x, {.scale_factor = 1e18}); },
                               "would have 3e+18 elements along axis 2");
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
