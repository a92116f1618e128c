// SPDX-License-Identifier: Apache-2.0
// Activations with parameters and random numbers.
#include "spruce/nn/activations.h"
#include "spruce/nn/prelu.h"
#include "spruce/nn/random_activations.h"
#include "tests/nn/functional_cases.h"

namespace functional_cases {
namespace more_activations_test {

TEST(MoreActivations, AsPyTorch) {
  check("threshold", 2, [](const Inputs& in, const Options& o) {
    return nn::threshold(in[0], o.number("threshold"), o.number("value"));
  });
  check("prelu", 4, [](const Inputs& in, const Options&) { return nn::prelu(in[0], in[1]); });
  check("rrelu", 1, [](const Inputs& in, const Options& o) {
    return nn::rrelu(in[0], {.lower = o.number("lower"), .upper = o.number("upper")});
  });
  check("log_sigmoid", 1, [](const Inputs& in, const Options&) { return nn::log_sigmoid(in[0]); });
}

TEST(MoreActivations, LayersAreTheFunctions) {
  const Array x = sp::astype(torch_cases::wave({3, 4}, 0.7), sp::float32);
  EXPECT_TRUE(sp::array_equal(nn::Threshold{0.5, 9}(x), nn::threshold(x, 0.5, 9)));
  EXPECT_TRUE(sp::array_equal(nn::Identity{}(x), x));
  const nn::PReLU layer = nn::PReLU::init();
  EXPECT_EQ(layer.weight.to_vector<float>(), (std::vector<float>{0.25f}));
  EXPECT_TRUE(sp::array_equal(layer(x), nn::leaky_relu(x, {.negative_slope = 0.25})));
  EXPECT_EQ(nn::PReLU::init(4, {.init = 0.5, .dtype = sp::float64}).weight.dtype(), sp::float64);
  EXPECT_TRUE(sp::array_equal(nn::RReLU{0.1, 0.3}(x), nn::rrelu(x, {.lower = 0.1, .upper = 0.3})));
  EXPECT_THROW(nn::prelu(x, sp::ones({3})), sp::ShapeError);
  EXPECT_THROW(nn::prelu(sp::ones({4}), sp::ones({4})), sp::ShapeError);
}

TEST(MoreActivations, RreluDrawsASlopeForEachElement) {
  const Array x = -sp::ones({1000});
  const nn::RreluOptions options{.lower = 0.25, .upper = 0.5, .training = true, .key = sp::Key(1)};
  const Array y = -nn::rrelu(x, options);
  EXPECT_GE(sp::min(y).item<float>(), 0.25f);
  EXPECT_LE(sp::max(y).item<float>(), 0.5f);
  EXPECT_NEAR(sp::mean(y).item<float>(), 0.375f, 0.01f);
  EXPECT_TRUE(sp::array_equal(nn::rrelu(-x, options), -x));
  const Array g = sp::grad([&](const Array& x) { return sp::sum(nn::rrelu(x, options)); })(x);
  EXPECT_TRUE(sp::array_equal(g, y));
  nn::Context ctx{.training = true, .key = sp::Key(1)};
  const nn::RReLU layer{0.25, 0.5};
  EXPECT_FALSE(sp::array_equal(layer(x, ctx), layer(x, ctx)));
  EXPECT_EQ(ctx.keys_used, 2);
  EXPECT_THROW(nn::rrelu(x, {.training = true}), sp::ValueError);
  EXPECT_THROW(nn::rrelu(x, {.lower = 1, .upper = 0}), sp::ValueError);
}

TEST(MoreActivations, GumbelSoftmaxSamplesTheDistribution) {
  const Array p = sp::array({0.1f, 0.2f, 0.7f});
  const Array logits = sp::broadcast_to(sp::log(p), {20000, 3});
  const Array hard = nn::gumbel_softmax(logits, {.hard = true, .key = sp::Key(3)});
  EXPECT_TRUE(sp::allclose(sp::sum(hard, 1), sp::ones({20000}), {.atol = 1e-6}));
  EXPECT_TRUE(sp::allclose(sp::mean(hard, 0), p, {.atol = 0.02}));
  const Array soft = nn::gumbel_softmax(logits, {.key = sp::Key(3)});
  EXPECT_TRUE(sp::array_equal(sp::argmax(soft, 1), sp::argmax(hard, 1)));
  const auto weighted = [&](bool hard) {
    return sp::grad([=](const Array& x) {
      const Array y = nn::gumbel_softmax(x, {.tau = 0.5, .hard = hard, .key = sp::Key(3)});
      return sp::sum(y * sp::arange(3.0f));
    })(logits);
  };
  EXPECT_TRUE(sp::allclose(weighted(true), weighted(false), {.atol = 1e-6}));
  const Array across = nn::gumbel_softmax(logits, {.dim = 0, .key = sp::Key(3)});
  EXPECT_TRUE(sp::allclose(sp::sum(across, 0), sp::ones({3}), {.atol = 1e-4}));
  EXPECT_THROW(nn::gumbel_softmax(logits, {.tau = 0, .key = sp::Key(3)}), sp::ValueError);
  EXPECT_THROW(nn::gumbel_softmax(logits, {.hard = true}), sp::ValueError);
}

}  // namespace more_activations_test
}  // namespace functional_cases
