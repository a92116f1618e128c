// SPDX-License-Identifier: Apache-2.0
// Weights as functions of parameters, layers that are made of others, and layers made one.
#include "spruce/nn/parametrizations.h"

#include <cmath>

#include "spruce/nn/fuse.h"
#include "spruce/nn/lora.h"
#include "spruce/nn/residual.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace parametrizations_test {

using sp::ShapeError, sp::ValueError;

TEST(WeightNorm, AsPyTorch) {
  check("weight_norm", 5, [](const Inputs& in, const Options& o) {
    nn::WeightNormOptions options{.dim = std::nullopt};
    if (o.has("dim")) options.dim = o.integer("dim");
    return nn::weight_norm(in[0], in[1], options);
  });
  const Array w = sp::random::normal(sp::Key(0), {3, 4, 2});
  const auto parts = nn::weight_norm_parts(w, {.dim = 1});
  EXPECT_EQ(parts.g.shape(), (sp::Shape{1, 4, 1}));
  EXPECT_TRUE(sp::allclose(nn::weight_norm(parts.g, parts.v, {.dim = 1}), w));
}

TEST(WeightNorm, OfHalfPrecisionSquaresInF32) {
  const Array large = sp::full({1, 10}, 300, sp::float16), one = sp::ones({1, 1}, sp::float16);
  const Array g = nn::weight_norm_parts(large).g;
  EXPECT_EQ(g.dtype(), sp::float16);
  EXPECT_NEAR(g.astype(sp::float32).item<float>(), 300 * std::sqrt(10), 0.5);
  const Array w = nn::weight_norm(one, sp::full({1, 10}, 1e-4, sp::float16));
  EXPECT_EQ(w.dtype(), sp::float16);
  EXPECT_NEAR(w[0][0].astype(sp::float32).item<float>(), 1 / std::sqrt(10), 1e-3);
}

TEST(SpectralNorm, AsPyTorch) {
  check("spectral_norm", 4, [](const Inputs& in, const Options& o) {
    const Array& w = in[0];
    const int64_t rows = w.shape(static_cast<int>(o.integer("dim")));
    const auto unit = [&](int64_t n, double step) {
      return nn::normalize(torch_cases::wave({n}, step), {.dim = 0}).astype(w.dtype());
    };
    const auto r = nn::spectral_norm(w, {unit(rows, 0.9), unit(w.size() / rows, 1.1)},
                                     {.n_power_iterations = o.integer("steps"),
                                      .dim = o.integer("dim"),
                                      .training = o.flag("training")});
    return joined({r.weight, r.state.u, r.state.v});
  });
}

TEST(SpectralNorm, ConvergesToOne) {
  const Array w = sp::random::normal(sp::Key(0), {6, 4}, {.dtype = sp::float64});
  const auto state = nn::spectral_norm_state(sp::Key(1), w, {});
  const Array n = nn::spectral_norm(w, state, {.n_power_iterations = 200}).weight;
  const Array gram = sp::matmul(sp::transpose(n), n);  // whose largest eigenvalue is 1
  Array v = sp::ones({4}, sp::float64);
  for (int i = 0; i < 400; ++i) v = nn::normalize(sp::matmul(gram, v), {.dim = 0});
  EXPECT_NEAR(sp::sum(v * sp::matmul(gram, v)).item<double>(), 1, 1e-9);
}

TEST(Orthogonal, AsPyTorch) {
  check("orthogonal", 14, [](const Inputs& in, const Options& o) {
    const bool exp = o.text("map") == "matrix_exp";
    return nn::orthogonal(
        in[0], {.map = exp ? nn::OrthogonalMap::kMatrixExp : nn::OrthogonalMap::kHouseholder});
  });
}

// Large weights too: the exponential is scaled down and squared up again.
TEST(Orthogonal, ColumnsAreOrthonormal) {
  for (const double scale : {1e-3, 1.0, 300.0}) {
    for (const sp::Shape& shape : {sp::Shape{7, 7}, sp::Shape{9, 4}, sp::Shape{3, 8}}) {
      const Array w = sp::random::normal(sp::Key(0), shape, {.dtype = sp::float64}) * scale;
      const Array q = nn::orthogonal(w), t = sp::transpose(q);
      const bool wide = shape[0] < shape[1];
      const Array one = wide ? sp::matmul(q, t) : sp::matmul(t, q);
      EXPECT_TRUE(sp::allclose(one, sp::eye(one.shape(0), {.dtype = sp::float64}), {.atol = 1e-10}))
          << scale << " " << shape;
    }
  }
}

TEST(Orthogonal, CayleySolvesItsEquations) {
  const nn::OrthogonalMapOptions options{.map = nn::OrthogonalMap::kCayley};
  for (const double scale : {1e-3, 1.0, 30.0}) {
    for (const int64_t n : {1, 2, 9}) {
      const Array w = sp::random::normal(sp::Key(0), {n, n}, {.dtype = sp::float64}) * scale;
      const Array lower = sp::tril(w), half = 0.5 * (lower - sp::transpose(lower));
      const Array q = nn::orthogonal(w, options), one = sp::eye(n, {.dtype = sp::float64});
      EXPECT_TRUE(sp::allclose(sp::matmul(one - half, q), one + half, {.atol = 1e-10}));
      EXPECT_TRUE(sp::allclose(sp::matmul(sp::transpose(q), q), one, {.atol = 1e-10}));
    }
  }
  const Array tall = sp::random::normal(sp::Key(1), {5, 2}, {.dtype = sp::float64});
  const Array q = nn::orthogonal(tall, options);
  EXPECT_TRUE(sp::allclose(sp::matmul(sp::transpose(q), q), sp::eye(2, {.dtype = sp::float64}),
                           {.atol = 1e-12}));
  EXPECT_TRUE(sp::array_equal(nn::orthogonal(sp::transpose(tall), options), sp::transpose(q)));
}

TEST(Orthogonal, CayleyHasDerivatives) {
  const Array w = sp::random::normal(sp::Key(2), {4, 4}, {.dtype = sp::float64});
  const Array d = sp::random::normal(sp::Key(3), {4, 4}, {.dtype = sp::float64});
  const auto f = [](const Array& x) {
    const Array q = nn::orthogonal(x, {.map = nn::OrthogonalMap::kCayley});
    return sp::sum(q * sp::arange(16, sp::float64).reshape({4, 4}));
  };
  const double h = 1e-5;
  const double expected = ((f(w + h * d) - f(w - h * d)) / (2 * h)).item<double>();
  EXPECT_NEAR(sp::sum(sp::grad(f)(w) * d).item<double>(), expected, 1e-6);
  EXPECT_NEAR(std::get<1>(sp::jvp(f, std::tuple{w}, std::tuple{d})).item<double>(), expected, 1e-6);
  EXPECT_TRUE(sp::allclose(sp::jit(sp::grad(f))(w), sp::grad(f)(w), {.atol = 1e-12}));
  const auto slope = [&](const Array& x) { return sp::sum(sp::grad(f)(x) * d); };
  const double second = ((slope(w + h * d) - slope(w - h * d)) / (2 * h)).item<double>();
  EXPECT_NEAR(sp::sum(sp::grad(slope)(w) * d).item<double>(), second, 1e-5);
}

TEST(Parametrizations, BadInput) {
  const Array w = sp::ones({3, 4});
  expect_error<ShapeError>([&] { nn::weight_norm(sp::ones({3}), w); },
                           "weight_norm: v f32[3,4] needs g f[3,1], got f32[3]");
  expect_error<ShapeError>([&] { nn::weight_norm_parts(w, {.dim = 2}); },
                           "weight_norm_parts: dim 2 is no axis of the weight f32[3,4]");
  expect_error<ShapeError>(
      [&] {
        nn::spectral_norm(w, {sp::ones({4}), sp::ones({3})});
      },
      "spectral_norm: weight f32[3,4] needs u f[3] and v f[4], got f32[4] and "
      "f32[3]");
  expect_error<ValueError>(
      [&] {
        nn::spectral_norm(w, {sp::ones({3}), sp::ones({4})}, {.n_power_iterations = 0});
      },
      "spectral_norm: n_power_iterations is 0, it must be at least 1");
  expect_error<ShapeError>([] { nn::orthogonal(sp::ones({3})); },
                           "orthogonal: takes a weight f[n, m], got f32[3]");
}

// The net of the case: a layer, then a batch norm in evaluation mode.
template <class Layer>
Array run_fused(const Layer& empty, int64_t channels, const Inputs& in, const Options& o) {
  using Net = std::tuple<Layer, nn::BatchNorm>;
  Net net{empty,
          nn::BatchNorm::init(
              channels, {.eps = 1e-3, .affine = o.flag("affine"), .track_running_stats = false})};
  net = filled(net, in, 1);
  auto& [layer, norm] = net;
  const sp::Dtype dtype = in[0].dtype();
  norm.running_mean = sp::Buffer{torch_cases::wave({channels}, 0.8).astype(dtype)};
  norm.running_var = sp::Buffer{sp::square(torch_cases::wave({channels}, 0.6)).astype(dtype)};
  if constexpr (std::is_same_v<Layer, nn::Linear>)
    return nn::fuse_linear_bn(layer, norm)(in[0]);
  else
    return nn::fuse_conv_bn(layer, norm)(in[0]);
}

TEST(FuseConvBn, AsTheLayersOneByOne) {
  check("fused", 12, [](const Inputs& in, const Options& o) {
    const sp::Key key(0);
    const bool bias = o.flag("bias");
    const std::string& kind = o.text("kind");
    if (kind == "conv1d")
      return run_fused(nn::Conv1d::init(key, 2, 3, 2, {.bias = bias}), 3, in, o);
    if (kind == "linear") return run_fused(nn::Linear::init(key, 4, 5, {.bias = bias}), 5, in, o);
    if (kind == "conv2d") {
      return run_fused(nn::Conv2d::init(key, 4, 6, {2, 3},
                                        {.stride = 2, .padding = 1, .groups = 2, .bias = bias}),
                       6, in, o);
    }
    return run_fused(
        nn::ConvTranspose2d::init(key, 4, 6, 2, {.stride = 2, .groups = 2, .bias = bias}), 6, in,
        o);
  });
}

TEST(FuseConvBn, BadInput) {
  const auto layer = nn::Conv2d::init(sp::Key(0), 2, 3, 1);
  expect_error<ValueError>(
      [&] { nn::fuse_conv_bn(layer, nn::BatchNorm::init(3, {.track_running_stats = false})); },
      "fuse_conv_bn: the norm has no running statistics");
  expect_error<ShapeError>([&] { nn::fuse_conv_bn(layer, nn::BatchNorm::init(4)); },
                           "fuse_conv_bn: the layer has 3 outputs, and the norm is of f32[4]");
}

TEST(LoRA, BeginsAsItsBaseAndLearnsTheRest) {
  const auto base = nn::Linear::init(sp::Key(0), 6, 4, {.dtype = sp::float64});
  nn::LoRA layer = nn::LoRA::init(sp::Key(1), base, {.r = 2, .alpha = 6});
  const Array x = sp::random::normal(sp::Key(2), {3, 6}, {.dtype = sp::float64});
  EXPECT_TRUE(sp::allclose(layer(x), base(x)));
  layer.lora_B = sp::random::normal(sp::Key(3), {4, 2}, {.dtype = sp::float64});
  const Array change =
      sp::matmul(sp::matmul(x, sp::transpose(layer.lora_A)), sp::transpose(layer.lora_B));
  EXPECT_TRUE(sp::allclose(layer(x), base(x) + 3 * change));
  EXPECT_TRUE(sp::allclose(layer.merged()(x), layer(x)));
  const auto g = sp::grad([&](const nn::LoRA& l) { return sp::sum(sp::square(l(x))); })(layer);
  EXPECT_EQ(sp::max(sp::abs(g.base.weight)).item<double>(), 0);
  EXPECT_EQ(sp::max(sp::abs(*g.base.bias)).item<double>(), 0);
  EXPECT_GT(sp::max(sp::abs(g.lora_A)).item<double>(), 0.1);
  layer.dropout = 0.5f;
  nn::Context training{.training = true, .key = sp::Key(4)};
  EXPECT_FALSE(sp::allclose(layer(x, training), layer(x)));
  expect_error<ValueError>([&] { nn::LoRA::init(sp::Key(0), base, {.r = 0}); },
                           "LoRA::init: r is 0, it must be at least 1");
}

TEST(Residual, AddsItsInput) {
  const nn::Residual block{nn::Linear::init(sp::Key(0), 4, 4)};
  const Array x = sp::random::normal(sp::Key(1), {3, 4});
  EXPECT_TRUE(sp::allclose(block(x), x + block.layer(x)));
  const nn::Residual dropped{nn::Dropout{0.5f}};
  nn::Context training{.training = true, .key = sp::Key(2)};
  EXPECT_TRUE(sp::array_equal(dropped(x), x + x));
  EXPECT_FALSE(sp::array_equal(dropped(x, training), x + x));
  EXPECT_EQ(sp::tree::entries(block)[0].path, "layer.weight");
  const auto net = nn::sequential(block, nn::relu);
  EXPECT_TRUE(sp::allclose(net(net.init(sp::Key(0), x))(x), nn::relu(block(x))));
}

}  // namespace parametrizations_test
}  // namespace functional_cases
