// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/position.h"

#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace position_test {

TEST(Rotary, AsComplexNumbers) {
  check("rotary", 4, [](const Inputs& in, const Options& o) {
    const Array steps = sp::arange(in[0].shape(-2)) + o.integer("offset");
    return nn::rotary_embedding(
        in[0],
        {.positions = steps, .base = o.number("base"), .interleaved = o.flag("interleaved")});
  });
}

TEST(Rotary, ScoresDependOnDistances) {
  const Array q = sp::random::normal(sp::Key(0), {1, 8}, {.dtype = sp::float64});
  const Array k = sp::random::normal(sp::Key(1), {1, 8}, {.dtype = sp::float64});
  const auto score = [&](int64_t i, int64_t j) {
    const Array a = nn::rotary_embedding(q, {.positions = sp::array({i})});
    return sp::sum(a * nn::rotary_embedding(k, {.positions = sp::array({j})})).item<double>();
  };
  EXPECT_NEAR(score(3, 1), score(12, 10), 1e-12);
  EXPECT_GT(std::abs(score(3, 1) - score(3, 2)), 1e-3);
  // Without positions those of a batch are 0, 1, ...
  const Array x = sp::random::normal(sp::Key(2), {2, 5, 4});
  const Array each = sp::broadcast_to(sp::arange(5), {2, 5});
  EXPECT_TRUE(sp::allclose(nn::rotary_embedding(x), nn::rotary_embedding(x, {.positions = each})));
}

TEST(SinusoidalEncoding, ByItsFormula) {
  const Array e = nn::sinusoidal_encoding(50, 6, {.base = 100, .dtype = sp::float64});
  for (const int64_t p : {0, 1, 49}) {
    for (int64_t i = 0; i < 6; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(100, static_cast<double>(i / 2 * 2) / 6);
      EXPECT_NEAR((e[{p, i}].item<double>()), i % 2 == 0 ? std::sin(angle) : std::cos(angle),
                  1e-12);
    }
  }
  EXPECT_EQ(nn::sinusoidal_encoding(3, 5).shape(), (sp::Shape{3, 5}));
  const Array x = sp::ones({2, 50, 6});
  EXPECT_TRUE(sp::allclose(nn::SinusoidalPositions{100}(x)-x, e.astype(sp::float32)));
}

TEST(LearnedPositions, AddsTheFirstRows) {
  const auto layer = nn::LearnedPositions::init(sp::Key(0), 10, 4);
  EXPECT_NEAR(sp::std(layer.weight).item<float>(), 0.02, 0.01);
  const Array x = sp::zeros({2, 3, 4});
  EXPECT_TRUE(sp::array_equal(layer(x)[1], layer.weight[sp::slice(3)]));
}

TEST(Positions, BadInput) {
  using sp::ShapeError;
  const auto layer = nn::LearnedPositions::init(sp::Key(0), 10, 4);
  expect_error<ShapeError>(
      [&] {
        layer(sp::ones({11, 4}));
      },
      "LearnedPositions: x f32[11,4] and weight f32[10,4] do not fit");
  expect_error<ShapeError>([&] { nn::SinusoidalPositions{}(sp::ones({4})); },
                           "SinusoidalPositions: takes f[..., t, e], got f32[4]");
  expect_error<ShapeError>(
      [] {
        nn::rotary_embedding(sp::ones({2, 3}));
      },
      "rotary_embedding: takes f[..., t, d] with an even d, got f32[2,3]");
  expect_error<ShapeError>(
      [] {
        nn::rotary_embedding(sp::ones({2, 4}), {.positions = sp::arange(3)});
      },
      "rotary_embedding: positions i32[3] do not broadcast to the steps [2] of x f32[2,4]");
  expect_error<sp::DtypeError>(
      [] {
        nn::rotary_embedding(sp::arange(4).reshape({2, 2}));
      },
      "rotary_embedding: x must be floating, got i32[2,2]");
  expect_error<sp::ValueError>([] { nn::sinusoidal_encoding(2, 2, {.base = 0}); },
                               "sinusoidal_encoding: base is 0, it must be");
}

}  // namespace position_test
}  // namespace functional_cases
