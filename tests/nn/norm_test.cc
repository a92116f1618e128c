// SPDX-License-Identifier: Apache-2.0
#include "spruce/nn/norm.h"

#include "tests/nn/torch_cases.h"

namespace torch_cases {
namespace norm_test {

nn::BatchNorm torch_layer(sp::Dtype dtype = sp::float64) {
  nn::BatchNorm layer = nn::BatchNorm::init(3, {.eps = 1e-3, .momentum = 0.3, .dtype = dtype});
  layer.weight = sp::array({1.0, 2.0, -0.5}, dtype);
  layer.bias = sp::array({0.0, 0.5, 1.0}, dtype);
  return layer;
}

// The layer with the running statistics that PyTorch had after three steps.
nn::BatchNorm trained_layer(sp::Dtype dtype) {
  nn::BatchNorm layer = torch_layer(dtype);
  for (const Text& c : kCases) {
    if (std::string(c.op) != "running" || std::string(c.options) != "step=2") continue;
    layer.running_mean->value = sp::array(numbers(c.x)).astype(dtype);
    layer.running_var->value = sp::array(numbers(c.y)).astype(dtype);
  }
  return layer;
}

// Three steps of training and one of evaluation, as make_torch_cases.py's layer.
TEST(BatchNorm, StepsAsPyTorch) {
  check("batch_norm", 4, [&](const Array& x, const Options& o) {
    if (o.integer("step") == 3) return trained_layer(x.dtype())(x);
    nn::Context ctx{.training = true};
    return torch_layer(x.dtype())(x, ctx);
  });
  nn::BatchNorm layer = torch_layer();
  int steps = 0;
  for (const Text& c : kCases) {
    const Options o(c.options);
    if (std::string(c.op) == "batch_norm") {
      nn::Context ctx{.training = o.integer("step") < 3};
      const Array y = layer(sp::array(numbers(c.x), {2, 3, 2}), ctx);
      layer = ctx.updated(layer);
      if (o.integer("step") == 3) expect_numbers(y, c.y, "evaluation");
    } else if (std::string(c.op) == "running") {
      expect_numbers(*layer.running_mean, c.x, "running mean");
      expect_numbers(*layer.running_var, c.y, "running variance");
      ++steps;
    }
  }
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(layer.num_batches_tracked->value.item<int64_t>(), 3);
}

TEST(BatchNorm, CumulativeAverageAsPyTorch) {
  nn::BatchNorm layer =
      nn::BatchNorm::init(3, {.eps = 1e-3, .momentum = std::nullopt, .dtype = sp::float64});
  layer.weight = sp::array({1.0, 2.0, -0.5}, sp::float64);
  layer.bias = sp::array({0.0, 0.5, 1.0}, sp::float64);
  const auto step = sp::jit([](const nn::BatchNorm& layer, const Array& x) {
    nn::Context ctx{.training = true};
    const Array y = layer(x, ctx);
    return std::pair{y, ctx.updated(layer)};
  });
  int steps = 0;
  for (const Text& c : kCases) {
    const Options o(c.options);
    if (std::string(c.op) == "batch_norm_cumulative") {
      const Array x = sp::array(numbers(c.x), {2, 3, 2});
      if (o.integer("step") == 3) {
        expect_numbers(layer(x), c.y, "evaluation");
      } else {
        const auto [y, next] = step(layer, x);
        expect_numbers(y, c.y, "training");
        layer = next;
      }
    } else if (std::string(c.op) == "running_cumulative") {
      expect_numbers(*layer.running_mean, c.x, "running mean");
      expect_numbers(*layer.running_var, c.y, "running variance");
      ++steps;
    }
  }
  EXPECT_EQ(steps, 4);
}

TEST(BatchNorm, WithoutRunningStatisticsAsPyTorch) {
  nn::BatchNorm layer =
      nn::BatchNorm::init(3, {.eps = 1e-3, .track_running_stats = false, .dtype = sp::float64});
  EXPECT_EQ(sp::tree::leaves(layer).size(), 2u);
  layer.weight = sp::array({1.0, 2.0, -0.5}, sp::float64);
  layer.bias = sp::array({0.0, 0.5, 1.0}, sp::float64);
  check("batch_norm_untracked", 4, [&](const Array& x, const Options& o) {
    nn::Context ctx{.training = o.integer("step") < 3};
    const auto same = [&](const Array& a) { return a.astype(x.dtype()); };
    const Array y = sp::tree::map(same, layer)(x, ctx);
    EXPECT_TRUE(ctx.updates.empty());
    return y;
  });
  EXPECT_THROW(layer(sp::ones({1, 3})), sp::ValueError);
}

TEST(BatchNorm, VarianceIsBiasedInsideAndUnbiasedInTheRunningOne) {
  const Array x = sp::array({{0.0f}, {1.0f}, {2.0f}, {3.0f}});  // mean 1.5, variance 1.25 or 5/3
  const auto r = nn::batch_norm(x, sp::zeros({1}), sp::ones({1}), {}, {},
                                {.training = true, .momentum = 0.5, .eps = 0});
  EXPECT_NEAR((r.output[{3, 0}].item<float>()), 1.5f / std::sqrt(1.25f), 1e-6);
  EXPECT_NEAR(r.running_mean.item<float>(), 0.75f, 1e-6);
  EXPECT_NEAR(r.running_var.item<float>(), 0.5f + 0.5f * 5 / 3, 1e-6);
}

TEST(BatchNorm, EvaluationChangesNothing) {
  const nn::BatchNorm layer = torch_layer();
  nn::Context ctx;
  const Array x = wave({2, 3, 2}, 0.7);
  const Array y = layer(x, ctx);
  EXPECT_TRUE(ctx.updates.empty());
  EXPECT_TRUE(sp::array_equal(y, layer(x)));
}

TEST(BatchNorm, CalledTwiceInOneCallUpdatesTwice) {
  const nn::BatchNorm layer = torch_layer();
  const Array a = wave({2, 3}, 0.7), b = wave({2, 3}, 1.1);
  nn::Context both{.training = true}, first{.training = true}, second{.training = true};
  layer(a, both);
  layer(b, both);
  layer(a, first);
  const nn::BatchNorm between = first.updated(layer);
  between(b, second);
  EXPECT_TRUE(sp::tree::equal(both.updated(layer), second.updated(between)));
}

TEST(BatchNorm, WithoutAffineParameters) {
  const nn::BatchNorm layer = nn::BatchNorm::init(3, {.affine = false});
  EXPECT_FALSE(layer.weight.has_value() || layer.bias.has_value());
  EXPECT_EQ(layer(sp::ones({2, 3})).shape(), (sp::Shape{2, 3}));
}

TEST(BatchNorm, HalfPrecisionIsComputedInSingle) {
  const Array x = sp::astype(300.0f + sp::random::normal(sp::Key(1), {512, 3}), sp::float16);
  const nn::BatchNorm layer = nn::BatchNorm::init(3);
  nn::Context half{.training = true}, single{.training = true};
  const Array y = layer(x, half);
  EXPECT_EQ(y.dtype(), sp::float16);
  const Array expected = layer(sp::astype(x, sp::float32), single);
  EXPECT_TRUE(sp::allclose(sp::astype(y, sp::float32), expected, {.rtol = 1e-3, .atol = 1e-3}));
  EXPECT_TRUE(sp::allclose(*half.updated(layer).running_var, *single.updated(layer).running_var));
}

TEST(BatchNorm, BadInput) {
  const nn::BatchNorm layer = nn::BatchNorm::init(3);
  nn::Context ctx{.training = true};
  EXPECT_THROW(layer(sp::ones({1, 3}), ctx), sp::ValueError);
  EXPECT_THROW(layer(sp::ones({2, 4}), ctx), sp::ShapeError);
  EXPECT_THROW(layer(sp::ones({3}), ctx), sp::ShapeError);
  EXPECT_THROW(nn::batch_norm(sp::ones({2, 3}), {}, {}), sp::ValueError);
  EXPECT_TRUE(ctx.updates.empty());
}

TEST(LayerNorm, IsTheFunctionWithItsParameters) {
  const Array x = wave({4, 2, 3}, 0.7);
  nn::LayerNorm layer = nn::LayerNorm::init({2, 3}, {.eps = 1e-3, .dtype = sp::float64});
  EXPECT_EQ(layer.weight->shape(), (sp::Shape{2, 3}));
  const Array centred = x - sp::mean(x, {1, 2}, {.keepdims = true});
  const Array deviation = sp::sqrt(sp::mean(centred * centred, {1, 2}, {.keepdims = true}) + 1e-3);
  EXPECT_TRUE(sp::allclose(layer(x), centred / deviation, {.rtol = 1e-12, .atol = 1e-12}));
  layer.weight = wave({2, 3}, 1.0);
  layer.bias = wave({2, 3}, 2.0);
  EXPECT_TRUE(sp::allclose(layer(x), centred / deviation * *layer.weight + *layer.bias,
                           {.rtol = 1e-12, .atol = 1e-12}));
  EXPECT_TRUE(sp::allclose(sp::vmap(layer)(x), layer(x)));
}

TEST(LayerNorm, TheSizeOfOneAxisMayBeANumber) {
  const std::vector<float> features(3);
  EXPECT_EQ(nn::LayerNorm::init(3).normalized_shape, sp::Shape{3});
  EXPECT_FALSE(nn::LayerNorm::init(features.size(), {.affine = false}).weight.has_value());
  EXPECT_EQ(nn::LayerNorm::init({3}).normalized_shape, sp::Shape{3});
  EXPECT_EQ(nn::LayerNorm::init({}).normalized_shape, sp::Shape{});
  EXPECT_EQ(nn::RMSNorm::init(3).weight->shape(), sp::Shape{3});
  EXPECT_EQ(*nn::RMSNorm::init(3, {.eps = 1e-3}).eps, 1e-3);
}

// The derivative of 1 / sqrt(variance + eps) is infinite in f16.
TEST(LayerNorm, RowsOfOneNumberInF16HaveADerivative) {
  const Array weights = sp::array({1.0f, -2.0f, 0.5f, 3.0f}, sp::float16);
  const auto f = [&](const Array& x) { return sp::sum(nn::layer_norm(x, {4}) * weights); };
  const Array x = sp::zeros({2, 4}, sp::float16);
  for (const Array& g : {sp::grad(f)(x), sp::jit(sp::grad(f))(x)}) {
    const auto row = g[0].astype(sp::float32).to_vector<float>();
    const std::vector<float> expected{118.6f, -830.1f, -39.5f, 751.1f};
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(row[i], expected[i], 1.5f);
  }
}

TEST(LayerNorm, BadInput) {
  EXPECT_THROW(nn::LayerNorm::init({3})(sp::ones({2, 4})), sp::ShapeError);
  EXPECT_THROW(nn::layer_norm(sp::ones({2, 3}), {3}, sp::ones({2})), sp::ShapeError);
  EXPECT_THROW(nn::layer_norm(sp::ones({2, 3}), {1, 2, 3}), sp::ShapeError);
}

}  // namespace norm_test
}  // namespace torch_cases
